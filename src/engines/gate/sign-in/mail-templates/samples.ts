import { MINUTE_MS } from '../../../../platform/durations.ts'
import type { Language } from '../model.ts'
import { createMailContents, type MailContent, type MailStyle } from './contents.ts'
import { partlyHidden } from './shown-address.ts'
import type { MailKind } from './texts.ts'

const NEW_ADDRESS = 'grace@example.com'

/** An email with a code, link and address that are examples. */
export function sampleOf(
  kind: MailKind,
  language: Language,
  { tenantName, ...style }: MailStyle & { tenantName: string },
): MailContent {
  const contents = createMailContents(language, style)
  const lifetimeMs = 15 * MINUTE_MS
  const about = { tenantName, code: '481516', lifetimeMs }
  const withLink = { ...about, link: 'https://example.com/confirm', linkLifetimeMs: 2 * lifetimeMs }
  switch (kind) {
    case 'verification':
      return contents.verification(withLink)
    case 'recovery':
      return contents.recovery(withLink)
    case 'login_code':
      return contents.loginCode(about)
    case 'registration_code':
      return contents.registrationCode(about)
    case 'email_change':
      return contents.emailChange(withLink)
    case 'email_change_notice':
      return contents.emailChangeNotice({ tenantName, newAddress: NEW_ADDRESS })
    case 'email_changed_by_admin':
      return contents.emailChangedByAdmin({ tenantName, newAddress: NEW_ADDRESS })
    case 'password_changed':
      return contents.passwordChanged({ tenantName })
    case 'second_factor_enabled':
    case 'second_factor_disabled':
      return contents.secondFactorChanged({ tenantName, isOn: kind === 'second_factor_enabled' })
  }
}

/** The default subject and introduction, with placeholders where values go. */
export function defaultText(kind: MailKind, language: Language) {
  const { subject, paragraphs } = sampleOf(kind, language, { tenantName: '{{name}}' })
  const intro = paragraphs[0]?.replaceAll(partlyHidden(NEW_ADDRESS), '{{new_address}}') ?? ''
  return { subject, intro }
}
