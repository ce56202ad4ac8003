/** What indents may add: a body that is nested deep enough grows by its length squared. */
const MOST_ADDED = 500_000
const STEP = 2

/** JSON with a line for each value; in one line where indents would be most of it. */
export function formattedJson(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null'
  return addedTo(text) > MOST_ADDED ? text : JSON.stringify(value, null, STEP)
}

/** About as many characters as indents add to JSON that has no blanks. */
function addedTo(text: string): number {
  let [depth, added] = [0, 0]
  let isInText = false
  for (let at = 0; at < text.length && added <= MOST_ADDED; at++) {
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
