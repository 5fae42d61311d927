"""The project of the console's tests: a tool with every control, a guarded one, and a skill."""

from collections.abc import Mapping

ORDER = """\
# Order Supplies

Order what a practice needs.

## Metadata

- **Name**: order_supplies
- **Version**: 1.0.0
- **Category**: supplies

## Parameters

### item

- **Type**: string
- **Required**: true
- **Description**: What to order
- **Enum**: gloves, masks, gauze

### amount

- **Type**: integer
- **Required**: true
- **Description**: How many boxes
- **Minimum**: 1
- **Maximum**: 20

### day

- **Type**: string
- **Description**: When it is needed
- **Format**: date

### urgent

- **Type**: boolean
- **Description**: Whether somebody should call

### note

- **Type**: string
- **Description**: Anything else

### rooms

- **Type**: array
- **Description**: Where it goes
- **Items**:
  - **Type**: object
  - **Properties**:
    - **floor**:
      - **Type**: integer
      - **Required**: true
      - **Description**: The floor
    - **doors**:
      - **Type**: array
      - **Description**: The doors
      - **Items**:
        - **Type**: string

### address

- **Type**: object
- **Description**: Where to deliver
- **Properties**:
  - **street**:
    - **Type**: string
    - **Required**: true
    - **Description**: The street
  - **city**:
    - **Type**: string
    - **Description**: The city

## Returns

- **Type**: object
- **Description**: What was ordered

## Limits

- **Timeout**: 5s

## Examples

### Two boxes

```json
{"item": "gauze", "amount": 2, "urgent": true, "rooms": [{"floor": 1, "doors": ["12"]}]}
```

### Too many

```json
{"item": "gauze", "amount": 21}
```

- **Error**: invalid_arguments
"""

PAY = """\
# Pay Invoice

Pay an invoice of a supplier.

## Metadata

- **Name**: pay_invoice
- **Version**: 1.0.0
- **Category**: money

## Parameters

### invoice

- **Type**: string
- **Required**: true
- **Description**: The invoice's number

### euros

- **Type**: number
- **Required**: true
- **Description**: How much
- **Maximum**: 1000

## Returns

- **Type**: object
- **Description**: The receipt

## Safety

- **Min Confidence**: 0.8
- **Requires Confirmation**: true
- **Sensitivity**: high
"""

RESTOCK = """\
# Restock

Order gauze and pay for it.

## Metadata

- **Name**: restock
- **Version**: 1.0.0
- **Category**: supplies
- **Required Tools**: order_supplies, pay_invoice

## Workflow

1. **Order the gauze**.
   - **Use**: order_supplies
   - **With**:
     - item: gauze
     - amount: `boxes`
   - **Save as**: order

2. **Say so**, for a large order.
   - **When**: `boxes > 10`
   - **Stop**: Too much gauze.

3. **Pay for it**.
   - **Ask**: Pay for {boxes} boxes?
   - **Use**: pay_invoice
   - **With**:
     - invoice: A-1
     - euros: `12.5`

4. **Return**:
   - boxes: `boxes`

## Input Schema

### boxes

- **Type**: integer
- **Required**: true
- **Description**: How many boxes

## Output Schema

- **Type**: object (SkillResult)
- **Success**: boolean - Whether it was ordered
- **Message**: string - What happened
- **Data**: object - The boxes
- **Error**: string - Why not
"""

FILES: Mapping[str, str] = {
    "toolmd.toml": 'tools = ["tools_md"]\nskills = ["skills_md"]\nplugins = []\n'
    '[safety]\ncrisis_words = ["give up"]\n',
    "tools_md/order-supplies.tool.md": ORDER,
    "tools_md/order_supplies.py": '''\
"""Order supplies."""


async def order_supplies(item, amount, **more):
    return {"item": item, "amount": amount, **more}
''',
    "tools_md/pay-invoice.tool.md": PAY,
    "tools_md/pay_invoice.py": '''\
"""Pay invoices."""


async def pay_invoice(invoice: str, euros: float) -> dict[str, object]:
    return {"paid": invoice, "euros": euros}
''',
    "skills_md/restock.skill.md": RESTOCK,
}

HOSTILE = """\
# <img src=x onerror=alert(1)> Title

Runs <script>alert(2)</script> and [click](javascript:alert(3)), ![p](http://127.0.0.1:1/p.png),
\u202etxt.exe\u202c and <b onclick="alert(4)">bold</b> "quotes' `code`.

## Metadata

- **Name**: hostile
- **Version**: 1.0.0
- **Category**: "><script>alert(5)</script>

## Parameters

### text

- **Type**: string
- **Required**: true
- **Description**: </textarea><script>alert(6)</script> \u2066hidden\u2069 {{ 77 * 1001 }}
- **Example**: "><svg onload=alert(7)>

## Returns

- **Type**: object
- **Description**: </pre><script>alert(8)</script>

## Safety

- **Requires Confirmation**: true

## Examples

### "><img src=x onerror=alert(9)>

```json
{"text": "</script><script>alert(10)</script>\u202eabc"}
```
"""
