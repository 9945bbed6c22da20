"""What speaks against the figures, and the figures that hold for rows to come.

::

    source           a problem with the names that its reader knows
      single_columns what each column tells by itself
      leaks          columns that give the target away; fewer_columns leaves them out of a problem
      checks         models trained again without them, and with rows kept apart by a group or a time
"""
