"""Points, tables and problems that several scripts measure on."""
