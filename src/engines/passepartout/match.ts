import { randomInt } from 'node:crypto'

/** Two digits without a leading zero, so that the number is unambiguous. */
export const newMatchCode = (): string => `${randomInt(10, 100)}`

/** The correct number and two others, shuffled; only the app's page shows which is correct. */
export function choicesFor(code: string): string[] {
  const choices = new Set([code])
  while (choices.size < 3) choices.add(newMatchCode())
  return shuffled([...choices])
}

function shuffled(choices: string[]): string[] {
  const left = [...choices]
  return choices.map(() => left.splice(randomInt(left.length), 1)[0] as string)
}
