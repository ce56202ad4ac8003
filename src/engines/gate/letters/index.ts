import { type Body, letter } from '../../../platform/mail/index.ts'
import type { Language } from '../model/flows.ts'
import { english } from './english.ts'
import { german } from './german.ts'
import { inWords } from './lifetime.ts'
import { partlyHidden } from './shown-address.ts'
import type { Said, SaidWithLink, Wording } from './wording.ts'

/** What `mail.post` takes of a letter. The code is in the text and the HTML, never in the subject. */
interface WrittenLetter extends Body {
  subject: string
}

interface WithTenant {
  /** As people know it. */
  tenantName: string
}

interface WithCode extends WithTenant {
  code: string
  lifetimeMs: number
}

interface WithLink extends WithCode {
  /** Leads to a page with the code filled in: what merely opens links confirms nothing. */
  link: string
  linkLifetimeMs: number
}

const WORDINGS: Record<Language, Wording> = { en: english, de: german }

export type Letters = ReturnType<typeof createLetters>

/** The mails of self-service flows, in one language. */
export function createLetters(language: Language) {
  const wording = WORDINGS[language]

  const notice = (said: Said, { tenantName }: WithTenant): WrittenLetter =>
    withSubject(said, letter({ language, tenantName, ...said }))

  const withCode = (said: Said, { tenantName, code }: WithCode): WrittenLetter =>
    withSubject(said, letter({ language, tenantName, ...said, code }))

  function withLink(said: SaidWithLink, { tenantName, code, link: url }: WithLink): WrittenLetter {
    const link = { label: said.button, url, orOpen: wording.orOpen }
    return withSubject(said, letter({ language, tenantName, ...said, code, link }))
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
    /** Asks somebody to prove that the address is theirs. */
    verification: (about: WithLink) => withLink(wording.verification(timedWithLink(about)), about),
    /** A way back into an account. */
    recovery: (about: WithLink) => withLink(wording.recovery(timedWithLink(about)), about),
    /** Signs somebody in without a password. */
    loginCode: (about: WithCode) => withCode(wording.loginCode(timed(about)), about),
    /** Ends a registration without a password. */
    registrationCode: (about: WithCode) => withCode(wording.registrationCode(timed(about)), about),
    /** To the new address of somebody: asks for proof of it. */
    emailChange: (about: WithLink) => withLink(wording.emailChange(timedWithLink(about)), about),
    /** To the old address, while the new one is still to be proven. */
    emailChangeNotice: (about: WithTenant & { newAddress: string }) => {
      const { tenantName, newAddress } = about
      const shownAddress = partlyHidden(newAddress)
      return notice(wording.emailChangeNotice({ tenantName, shownAddress }), about)
    },
    passwordChanged: (about: WithTenant) => notice(wording.passwordChanged(about), about),
    /** `isOn`: whether sign-in takes a second factor from now on. */
    secondFactorChanged: (about: WithTenant & { isOn: boolean }) =>
      notice(wording.secondFactorChanged(about), about),
  }
}

const withSubject = ({ subject }: Said, body: Body): WrittenLetter => ({ subject, ...body })
