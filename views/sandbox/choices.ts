import type { SandboxPage } from '../../src/engines/passepartout/sandbox/pages.ts'

/** The value of `choice` for pressing Start only. */
export const START = 'start'

/** All possible values of `choice`, in the order of the page. */
export const choicesOf = ({ buttons, canPressStart }: SandboxPage): string[] => [
  ...buttons.flat().map(({ choice }) => choice),
  ...(canPressStart ? [START] : []),
]
