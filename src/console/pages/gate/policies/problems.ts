import type { Problem } from '../../../../../views/console/pages/gate/policies/editor.tsx'

export const OVERTAKEN: Problem = {
  message:
    'Someone else changed the policies after you opened this form. Save again to overwrite their changes.',
}

/** One of each line of a message, with the line of the text that it is about. */
export const problemsIn = (message: string, text: string): Problem[] => {
  const lines = text.split('\n')
  return message.split('\n').map((one) => {
    const [, line, column, rule] = PLACED.exec(one) ?? []
    if (rule === undefined) return { message: sentence(one.replace(/^policies: /, '')) }
    const place = { line: Number(line), column: Number(column) }
    return { place, message: sentence(rule), source: lines[place.line - 1] ?? '' }
  })
}

const PLACED = /^policies: line (\d+), column (\d+): (.+)$/s

const sentence = (rule: string): string => `${rule.charAt(0).toUpperCase()}${rule.slice(1)}.`
