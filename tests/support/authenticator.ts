import { Secret, TOTP } from 'otpauth'

const STEP_MS = 30_000

/**
 * What an authenticator shows now, by the clock of this machine, or so many steps later. None is
 * good twice, but one that is a step early is good already: nobody has to wait for the next.
 */
export const appCode = (secret: string, step = 0): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({
    timestamp: Date.now() + step * STEP_MS,
  })

/** Six digits that it does not show at any time near to now. */
export function wrongAppCode(secret: string): string {
  const near = [-2, -1, 0, 1, 2].map((step) => appCode(secret, step))
  const candidates = ['000000', '111111', '222222', '333333', '444444', '555555']
  return candidates.find((code) => !near.includes(code)) as string
}
