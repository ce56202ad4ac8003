import type { SandboxPage } from '../../src/engines/passepartout/sandbox/pages.ts'

/** The value of `choice` that presses Start and nothing else. */
export const START = 'start'

/** All that `choice` may be now, in the order in which the page has it. */
export const choicesOf = ({ buttons, canPressStart }: SandboxPage): string[] => [
  ...buttons.flat().map(({ choice }) => choice),
  ...(canPressStart ? [START] : []),
]
