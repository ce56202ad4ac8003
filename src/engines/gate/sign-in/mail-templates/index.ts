import { type Body, renderMail } from '../../../../platform/mail/index.ts'
import type { Language } from '../model.ts'
import {
  createMailContents,
  type MailContent,
  type MailStyle,
  type WithCode,
  type WithLink,
  type WithNewAddress,
  type WithTenant,
} from './contents.ts'

/** The content of a mail, as `mail.post` takes it. The code is in the text and the HTML, never in the subject. */
interface WrittenMail extends Body {
  subject: string
}

export type MailTemplates = ReturnType<typeof createMailTemplates>

/** The mails of self-service flows, in one language. */
export function createMailTemplates(language: Language, style: MailStyle = {}) {
  const contents = createMailContents(language, style)

  return {
    /** Asks the recipient to verify the address. */
    verification: (about: WithLink) => written(contents.verification(about)),
    /** Lets the owner of the address recover the account. */
    recovery: (about: WithLink) => written(contents.recovery(about)),
    /** Carries the code for a sign-in without a password. */
    loginCode: (about: WithCode) => written(contents.loginCode(about)),
    /** Carries the code that completes a registration without a password. */
    registrationCode: (about: WithCode) => written(contents.registrationCode(about)),
    /** Asks the new address of an account to be verified. */
    emailChange: (about: WithLink) => written(contents.emailChange(about)),
    /** Tells the old address of a change that is not verified yet. */
    emailChangeNotice: (about: WithNewAddress) => written(contents.emailChangeNotice(about)),
    /** Tells the old address that an administrator has replaced it. */
    emailChangedByAdmin: (about: WithNewAddress) => written(contents.emailChangedByAdmin(about)),
    passwordChanged: (about: WithTenant) => written(contents.passwordChanged(about)),
    /** `isOn`: whether sign-in requires a second factor from now on. */
    secondFactorChanged: (about: WithTenant & { isOn: boolean }) =>
      written(contents.secondFactorChanged(about)),
  }
}

/** An email as `mail.post` takes it. */
export const written = ({ subject, ...content }: MailContent): WrittenMail => ({
  subject,
  ...renderMail(content),
})
