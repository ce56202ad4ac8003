import type { Sealing } from '../sealing/index.ts'
import { mailBody } from './sealed.ts'

/** The content of a mail as text and as HTML. */
export interface Body {
  text: string
  html: string
}

export type Bodies = ReturnType<typeof createBodies>

/** Seals bodies for the database, because they contain codes and links that sign users in. */
export function createBodies(sealing: Sealing) {
  const seal = (id: string, { text, html }: Body): string =>
    sealing.seal(
      mailBody.purpose,
      mailBody.boundTo({ id }),
      JSON.stringify({ text: text.toWellFormed(), html: html.toWellFormed() }),
    )

  /** Decrypts a body. Throws `SealError` if it was sealed with another master key, or modified. */
  const open = (id: string, sealed: string): Body =>
    JSON.parse(sealing.open(mailBody.purpose, mailBody.boundTo({ id }), sealed))

  return { seal, open }
}
