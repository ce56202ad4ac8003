import { letter } from '../../platform/mail/index.ts'

const MINUTE_MS = 60_000

/** Asks somebody to prove that the address is theirs. */
export function verificationLetter(about: {
  tenantName: string
  code: string
  link: string
  lifetimeMs: number
}) {
  const { tenantName, code, link, lifetimeMs } = about
  return {
    subject: `Confirm your address for ${tenantName}`,
    ...letter({
      tenantName,
      heading: 'Confirm your e-mail address',
      paragraphs: [
        `Enter this code at ${tenantName}, or open the link below, to confirm that this address is yours.`,
      ],
      code,
      link: { label: 'Confirm the address', url: link },
      footer: `Both work once, for ${minutes(lifetimeMs)}. If you did not expect this mail, ignore it.`,
    }),
  }
}

function minutes(ms: number): string {
  const count = Math.max(Math.round(ms / MINUTE_MS), 1)
  return count === 1 ? '1 minute' : `${count} minutes`
}
