import type { BrandingSettings } from '../../../../platform/branding/index.ts'
import type { Content } from '../../../../platform/mail/index.ts'
import type { Language } from '../model.ts'
import { english } from './english.ts'
import { german } from './german.ts'
import { inWords } from './lifetime.ts'
import { partlyHidden } from './shown-address.ts'
import { filledIn, type MailKind, type MailText, type Placeholder, paragraphsOf } from './texts.ts'
import type { Said, SaidWithLink, Wording } from './wording.ts'

/** An email before it is rendered. */
export interface MailContent extends Content {
  subject: string
}

export interface WithTenant {
  /** The display name of the tenant. */
  tenantName: string
}

export interface WithCode extends WithTenant {
  code: string
  lifetimeMs: number
}

export interface WithLink extends WithCode {
  /** Opens a page with the code filled in. Opening the link confirms nothing, so link scanners are harmless. */
  link: string
  linkLifetimeMs: number
}

export interface WithNewAddress extends WithTenant {
  newAddress: string
}

/** What a tenant has changed about its emails. */
export interface MailStyle {
  branding?: BrandingSettings
  textOf?: (kind: MailKind) => MailText | undefined
}

const WORDINGS: Record<Language, Wording> = { en: english, de: german }

/** The emails of self-service flows in one language, each with the tenant's own texts. */
export function createMailContents(language: Language, { branding, textOf }: MailStyle) {
  const wording = WORDINGS[language]
  const contacts = contactsOf(branding, wording)

  function notice(
    kind: MailKind,
    said: Said,
    values: { tenantName: string } & Partial<Record<Placeholder, string>>,
  ): MailContent {
    const { tenantName, ...rest } = values
    const own = textOf?.(kind)
    const fill = (text: string) => filledIn(text, { name: tenantName, ...rest })
    const [intro, ...others] = said.paragraphs
    const intros = own?.intro ? paragraphsOf(own.intro).map(fill) : [intro]
    return {
      language,
      tenantName,
      subject: own?.subject ? fill(own.subject) : said.subject,
      heading: said.heading,
      paragraphs: [...intros, ...others],
      footer: said.footer,
      look: branding,
      contacts,
    }
  }

  const withCode = (kind: MailKind, said: Said, { tenantName, code, lifetimeMs }: WithCode) => ({
    ...notice(kind, said, { tenantName, lifetime: inWords(lifetimeMs, language) }),
    code,
  })

  const withLink = (kind: MailKind, said: SaidWithLink, about: WithLink): MailContent => ({
    ...withCode(kind, said, about),
    link: { label: said.button, url: about.link, orOpen: wording.orOpen },
  })

  const timed = ({ tenantName, lifetimeMs }: WithCode) => ({
    tenantName,
    lifetime: inWords(lifetimeMs, language),
  })

  const timedWithLink = (about: WithLink) => ({
    ...timed(about),
    linkLifetime: inWords(about.linkLifetimeMs, language),
  })

  function withNewAddress(
    kind: MailKind,
    say: Wording['emailChangeNotice'],
    { tenantName, newAddress }: WithNewAddress,
  ) {
    const shownAddress = partlyHidden(newAddress)
    const said = say({ tenantName, shownAddress })
    return notice(kind, said, { tenantName, new_address: shownAddress })
  }

  return {
    verification: (about: WithLink) =>
      withLink('verification', wording.verification(timedWithLink(about)), about),
    recovery: (about: WithLink) =>
      withLink('recovery', wording.recovery(timedWithLink(about)), about),
    loginCode: (about: WithCode) => withCode('login_code', wording.loginCode(timed(about)), about),
    registrationCode: (about: WithCode) =>
      withCode('registration_code', wording.registrationCode(timed(about)), about),
    emailChange: (about: WithLink) =>
      withLink('email_change', wording.emailChange(timedWithLink(about)), about),
    emailChangeNotice: (about: WithNewAddress) =>
      withNewAddress('email_change_notice', wording.emailChangeNotice, about),
    emailChangedByAdmin: (about: WithNewAddress) =>
      withNewAddress('email_changed_by_admin', wording.emailChangedByAdmin, about),
    passwordChanged: ({ tenantName }: WithTenant) =>
      notice('password_changed', wording.passwordChanged({ tenantName }), { tenantName }),
    secondFactorChanged: ({ tenantName, isOn }: WithTenant & { isOn: boolean }) => {
      const kind = isOn ? 'second_factor_enabled' : 'second_factor_disabled'
      return notice(kind, wording.secondFactorChanged({ tenantName, isOn }), { tenantName })
    },
  }
}

function contactsOf(branding: BrandingSettings | undefined, { contacts }: Wording) {
  const { supportUrl, termsUrl, privacyUrl } = branding ?? {}
  return [
    { label: contacts.support, url: supportUrl },
    { label: contacts.terms, url: termsUrl },
    { label: contacts.privacy, url: privacyUrl },
  ].flatMap(({ label, url }) => (url ? [{ label, url }] : []))
}
