const TAP = /^(deny|approve|\d{2})\.([0-9a-f-]{36})$/

/** What a button carries: 44 bytes at most, of 64 that messengers take. */
export const tapData = (choice: string, attemptId: string): string => `${choice}.${attemptId}`

/** `choice` is `deny`, `approve`, or a number of two digits. */
interface Tap {
  choice: string
  attemptId: string
}

/** Whoever taps may have sent anything instead: undefined for what no button of ours carries. */
export function readTap(data: string): Tap | undefined {
  const [, choice, attemptId] = TAP.exec(data) ?? []
  return choice === undefined || attemptId === undefined ? undefined : { choice, attemptId }
}
