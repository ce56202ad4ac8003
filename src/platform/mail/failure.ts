import type { NodemailerError } from 'nodemailer'
import { messageOf } from '../../db/errors.ts'
import { withoutParts } from '../redaction.ts'

/** A refusal of these concerns the mail; of earlier commands, the server or the sender. */
const ABOUT_THE_MAIL = new Set(['RCPT TO', 'DATA'])

/** Errors that the library reports without contacting the server. */
const UNSENDABLE = new Set(['EENVELOPE', 'EMESSAGE'])

/**
 * Whether a retry would fail as well, because the server permanently refused the recipient or the
 * content. Mails wait for the operator to fix other refusals, such as a wrong password or sender.
 */
export function isFinal({ code, command, permanent, responseCode }: NodemailerError): boolean {
  if (responseCode === undefined) return UNSENDABLE.has(code ?? '')
  return permanent === true && ABOUT_THE_MAIL.has(command ?? '')
}

/** The message of an error on one line, without what is to be hidden. */
export const reasonOf = (error: unknown, hidden: readonly string[]): string =>
  withoutParts(messageOf(error), hidden)
