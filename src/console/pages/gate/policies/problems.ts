import type { Problem } from '../../../../../views/console/pages/gate/policies/editor.tsx'

export const OVERTAKEN: Problem = {
  message: 'The policies have changed since this form was opened; saving again replaces those.',
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
