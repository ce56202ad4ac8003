/** Most characters that indentation may add: deep nesting grows a body quadratically. */
const MAX_ADDED = 500_000
const STEP = 2

/** Indented JSON, or one line if indentation would add too much. */
export function formattedJson(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null'
  return addedTo(text) > MAX_ADDED ? text : JSON.stringify(value, null, STEP)
}

/** Approximate number of characters that indentation adds to compact JSON. */
function addedTo(text: string): number {
  let [depth, added] = [0, 0]
  let isInText = false
  for (let at = 0; at < text.length && added <= MAX_ADDED; at++) {
    const character = text[at]
    if (character === '"') isInText = !isInText
    else if (isInText && character === '\\') at++
    else if (!isInText) {
      if (character === '{' || character === '[') depth++
      else if (character === '}' || character === ']') depth--
      else if (character !== ',') continue
      added += depth * STEP + 1
    }
  }
  return added
}
