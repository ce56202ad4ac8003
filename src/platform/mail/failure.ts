import type { NodemailerError } from 'nodemailer'
import { messageOf } from '../../db/errors.ts'

const MAX_LENGTH = 300

/** Until then the talk is about the server and who we are; from here on, about this mail. */
const ABOUT_THE_MAIL = new Set(['RCPT TO', 'DATA'])

/** Errors that the library reports without contacting the server. */
const UNSENDABLE = new Set(['EENVELOPE', 'EMESSAGE'])

/**
 * Whether the same mail would fail again, whatever is done about the server: the recipient or the
 * content was refused for good. That we were refused, a wrong password or sender, is for the
 * operator to mend, and mails wait for it.
 */
export function isFinal({ code, command, permanent, responseCode }: NodemailerError): boolean {
  if (responseCode === undefined) return UNSENDABLE.has(code ?? '')
  return permanent === true && ABOUT_THE_MAIL.has(command ?? '')
}

/**
 * The reason as one line. Servers answer what they like, also what they were sent: what is to be
 * hidden is taken out, in whatever case of letters it comes back.
 */
export function reasonOf(error: unknown, hidden: readonly string[]): string {
  const shown = hidden
    .filter((part) => part !== '')
    .toSorted((a, b) => b.length - a.length)
    .reduce((text, part) => text.replaceAll(anyCaseOf(part), '[hidden]'), messageOf(error))
  return [...shown.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim()].slice(0, MAX_LENGTH).join('')
}

const anyCaseOf = (text: string) => new RegExp(RegExp.escape(text), 'giu')
