const TAP = /^(deny|approve|\d{2})\.([0-9a-f-]{36})$/

/** The data of a button: at most 44 bytes of the 64 that messengers allow. */
export const tapData = (choice: string, attemptId: string): string => `${choice}.${attemptId}`

/** `choice` is `deny`, `approve`, or a two-digit number. */
interface Tap {
  choice: string
  attemptId: string
}

/** Reads the data of a tap, which may be forged; undefined if no button of ours has it. */
export function readTap(data: string): Tap | undefined {
  const [, choice, attemptId] = TAP.exec(data) ?? []
  return choice === undefined || attemptId === undefined ? undefined : { choice, attemptId }
}
