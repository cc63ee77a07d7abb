"""Ask one question: python examples/hello.py "what is a bridle"."""

import sys

import bridle

result = bridle.run(" ".join(sys.argv[1:]) or "Say hello in one sentence.")

print(result.text)
price = "price unknown" if result.cost is None else f"{result.cost} dollars"
print(f"{result.usage.input} tokens in, {result.usage.output} out, {price}", file=sys.stderr)
