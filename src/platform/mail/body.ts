import type { Sealing } from '../sealing/index.ts'
import { mailBody } from './sealed.ts'

/** What a mail says, once for programs that show text and once for those that show HTML. */
export interface Body {
  text: string
  html: string
}

export type Bodies = ReturnType<typeof createBodies>

/** Bodies hold codes and links that sign people in: the database has them sealed. */
export function createBodies(sealing: Sealing) {
  const seal = (id: string, { text, html }: Body): string =>
    sealing.seal(
      mailBody.purpose,
      mailBody.place({ id }),
      JSON.stringify({ text: text.toWellFormed(), html: html.toWellFormed() }),
    )

  /** Throws `SealError` for what another master key has sealed, or somebody has changed. */
  const open = (id: string, sealed: string): Body =>
    JSON.parse(sealing.open(mailBody.purpose, mailBody.place({ id }), sealed))

  return { seal, open }
}
