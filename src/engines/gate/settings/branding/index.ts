import { colorsOf } from '../../../../platform/branding/contrast.ts'
import { bytesIn } from '../../../../platform/branding/image.ts'
import type {
  Branding,
  BrandingInput,
  Logo,
  BrandingSettings as Look,
} from '../../../../platform/branding/index.ts'
import type { Caller } from '../../../../platform/caller.ts'
import { isoTime } from '../../../../platform/clock.ts'
import type { TenantMail, TenantMails } from '../../sign-in/mail-templates/tenant-mails.ts'
import type { BrandingView, EmailText, EmailTextChange, LogoChange } from './model.ts'

export type BrandingSettings = ReturnType<typeof createBrandingSettings>

/** Branding and email texts in the form of the API. */
export function createBrandingSettings(parts: {
  branding: Branding
  tenantMails: TenantMails
  baseUrl: () => string
}) {
  const { branding, tenantMails, baseUrl } = parts

  const get = ({ tenantId }: Caller): BrandingView => present(branding.of(tenantId))

  const change = async ({ actor, tenantId }: Caller, input: BrandingInput): Promise<BrandingView> =>
    present(await branding.change(actor, tenantId, input))

  /** Stores or deletes the given logos: all of them, or none if one is refused. */
  async function setLogos({ actor, tenantId }: Caller, { light, dark }: LogoChange) {
    const bytesOf = (image: string | null | undefined, field: string) =>
      typeof image === 'string' ? bytesIn(image, field) : image
    const logos = { light: bytesOf(light, 'light'), dark: bytesOf(dark, 'dark') }
    return present(await branding.setLogos(actor, tenantId, logos))
  }

  const emails = (caller: Caller) => ({ emails: tenantMails.list(caller).map(presentMail) })

  /** Changes the given fields of the given emails: all of them, or none if one is refused. */
  async function changeEmails(caller: Caller, changes: EmailTextChange[]) {
    const texts = changes.map(({ kind, language, ...change }) => {
      const before = tenantMails.find(caller, kind, language)
      const { subject = before.subject, intro = before.intro } = change
      return { kind, language, subject, intro }
    })
    await tenantMails.changeAll(caller, texts)
    return emails(caller)
  }

  const present = ({ accent, logos, updatedAt, ...look }: Look): BrandingView => ({
    display_name: look.displayName,
    accent_color: accent,
    support_url: look.supportUrl,
    terms_url: look.termsUrl,
    privacy_url: look.privacyUrl,
    sender_name: look.senderName,
    colors: accent === null ? null : presentColors(accent),
    logos: { light: presentLogo(logos.light), dark: presentLogo(logos.dark) },
    updated_at: updatedAt === null ? null : isoTime(updatedAt),
  })

  const presentLogo = (logo: Logo | undefined) => {
    if (!logo) return null
    const { path, type, width, height } = logo
    return { url: baseUrl() + path, type, width, height }
  }

  return { get, change, setLogos, emails, changeEmails }
}

function presentColors(accent: string) {
  const { fill, onFill, light, dark } = colorsOf(accent)
  return { button: fill, button_text: onFill, light_text: light.text, dark_text: dark.text }
}

const presentMail = ({
  defaultSubject,
  defaultIntro,
  placeholders,
  ...mail
}: TenantMail): EmailText => ({
  ...mail,
  default_subject: defaultSubject,
  default_intro: defaultIntro,
  placeholders: [...placeholders],
})
