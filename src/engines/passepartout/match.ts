import { randomInt } from 'node:crypto'

/** Two digits without a zero in front, so that nobody wonders whether it counts. */
export const newMatchCode = (): string => `${randomInt(10, 100)}`

/** The right number among two others, in no order: which is which only the app's page tells. */
export function choicesFor(code: string): string[] {
  const choices = new Set([code])
  while (choices.size < 3) choices.add(newMatchCode())
  return shuffled([...choices])
}

function shuffled(choices: string[]): string[] {
  const left = [...choices]
  return choices.map(() => left.splice(randomInt(left.length), 1)[0] as string)
}
