"""Excel workbooks, written here so that any of them can be."""

import io
import zipfile

SPACE = "http://schemas.openxmlformats.org"
OFFICE = f"{SPACE}/officeDocument/2006/relationships"
MAIN = f"{SPACE}/spreadsheetml/2006/main"
DAY, MOMENT = 1, 2  # styles


def workbook(sheets, **more):
    """Write a workbook: sheets by name, each a list of rows, or the XML of these."""
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{SPACE}/package/2006/content-types"/>',
        "_rels/.rels": relations([("officeDocument", "xl/workbook.xml")]),
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>'
        + "".join(f'<sheet name="{name}" sheetId="{i}" r:id="r{i}"/>' for i, name in enumerate(sheets))
        + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": relations(
            [("worksheet", f"worksheets/sheet{i}.xml") for i in range(len(sheets))] + [("styles", "styles.xml")]
        ),
        "xl/styles.xml": f'<styleSheet xmlns="{MAIN}"><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/>'
        '<xf numFmtId="22"/></cellXfs></styleSheet>',
    }
    for i, rows in enumerate(sheets.values()):
        data = rows if isinstance(rows, str) else "".join(row_xml(r, row) for r, row in enumerate(rows, start=1))
        parts[f"xl/worksheets/sheet{i}.xml"] = f'<worksheet xmlns="{MAIN}"><sheetData>{data}</sheetData></worksheet>'
    return zipped(parts | more)


def relations(pairs):
    items = "".join(
        f'<Relationship Id="r{i}" Type="{OFFICE}/{kind}" Target="{to}"/>' for i, (kind, to) in enumerate(pairs)
    )
    return f'<Relationships xmlns="{SPACE}/package/2006/relationships">{"".join(items)}</Relationships>'


def row_xml(number, row):
    return (
        f'<row r="{number}">{"".join(cell_xml(f"{chr(65 + c)}{number}", value) for c, value in enumerate(row))}</row>'
    )


def cell_xml(place, value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, tuple):
        return f'<c r="{place}" s="{value[1]}"><v>{value[0]}</v></c>'
    if isinstance(value, str) and value.startswith("="):
        return f'<c r="{place}"><f>{value[1:]}</f><v>42</v></c>'
    if isinstance(value, str) and value.startswith("#"):
        return f'<c r="{place}" t="e"><v>{value}</v></c>'
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{value}</t></is></c>'
    return f'<c r="{place}"><v>{value}</v></c>'


def zipped(parts):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()
