import { type Body, renderMail } from '../../../../platform/mail/index.ts'
import type { Language } from '../model.ts'
import { english } from './english.ts'
import { german } from './german.ts'
import { inWords } from './lifetime.ts'
import { partlyHidden } from './shown-address.ts'
import type { Said, SaidWithLink, Wording } from './wording.ts'

/** The content of a mail, as `mail.post` takes it. The code is in the text and the HTML, never in the subject. */
interface WrittenMail extends Body {
  subject: string
}

interface WithTenant {
  /** The display name of the tenant. */
  tenantName: string
}

interface WithCode extends WithTenant {
  code: string
  lifetimeMs: number
}

interface WithLink extends WithCode {
  /** Opens a page with the code filled in. Opening the link confirms nothing, so link scanners are harmless. */
  link: string
  linkLifetimeMs: number
}

const WORDINGS: Record<Language, Wording> = { en: english, de: german }

export type MailTemplates = ReturnType<typeof createMailTemplates>

/** The mails of self-service flows, in one language. */
export function createMailTemplates(language: Language) {
  const wording = WORDINGS[language]

  const notice = (said: Said, { tenantName }: WithTenant): WrittenMail =>
    withSubject(said, renderMail({ language, tenantName, ...said }))

  const withCode = (said: Said, { tenantName, code }: WithCode): WrittenMail =>
    withSubject(said, renderMail({ language, tenantName, ...said, code }))

  function withLink(said: SaidWithLink, { tenantName, code, link: url }: WithLink): WrittenMail {
    const link = { label: said.button, url, orOpen: wording.orOpen }
    return withSubject(said, renderMail({ language, tenantName, ...said, code, link }))
  }

  const timed = ({ tenantName, lifetimeMs }: WithCode) => ({
    tenantName,
    lifetime: inWords(lifetimeMs, language),
  })

  const timedWithLink = (about: WithLink) => ({
    ...timed(about),
    linkLifetime: inWords(about.linkLifetimeMs, language),
  })

  return {
    /** Asks the recipient to verify the address. */
    verification: (about: WithLink) => withLink(wording.verification(timedWithLink(about)), about),
    /** Lets the owner of the address recover the account. */
    recovery: (about: WithLink) => withLink(wording.recovery(timedWithLink(about)), about),
    /** Carries the code for a sign-in without a password. */
    loginCode: (about: WithCode) => withCode(wording.loginCode(timed(about)), about),
    /** Carries the code that completes a registration without a password. */
    registrationCode: (about: WithCode) => withCode(wording.registrationCode(timed(about)), about),
    /** Asks the new address of an account to be verified. */
    emailChange: (about: WithLink) => withLink(wording.emailChange(timedWithLink(about)), about),
    /** Tells the old address of a change that is not verified yet. */
    emailChangeNotice: (about: WithTenant & { newAddress: string }) => {
      const { tenantName, newAddress } = about
      const shownAddress = partlyHidden(newAddress)
      return notice(wording.emailChangeNotice({ tenantName, shownAddress }), about)
    },
    passwordChanged: (about: WithTenant) => notice(wording.passwordChanged(about), about),
    /** `isOn`: whether sign-in requires a second factor from now on. */
    secondFactorChanged: (about: WithTenant & { isOn: boolean }) =>
      notice(wording.secondFactorChanged(about), about),
  }
}

const withSubject = ({ subject }: Said, body: Body): WrittenMail => ({ subject, ...body })
