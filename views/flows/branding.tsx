import type { PageBranding } from '../../src/engines/gate/sign-in/flows/pages.ts'
import type { Language } from '../../src/engines/gate/sign-in/model.ts'
import { KeyIcon } from './icons.tsx'
import { initialOf, shownName } from './name.ts'
import { WORDS } from './words.ts'

/** The logo of a tenant, or the first letter of its name. */
export const TenantMark = (parts: { name: string; logos?: PageBranding['logos'] | undefined }) => {
  const { name, logos = {} } = parts
  const { light = logos.dark, dark } = logos
  if (!light)
    return (
      <span class="tenantavatar" aria-hidden="true">
        {initialOf(name) ?? <KeyIcon />}
      </span>
    )
  return (
    <picture class={dark ? 'logo' : 'logo plate'}>
      {dark && <source srcset={dark.path} media="(prefers-color-scheme: dark)" />}
      <img src={light.path} width={light.width} height={light.height} alt={shownName(name)} />
    </picture>
  )
}

/** Links to support, terms and privacy policy. They open a new tab, so that no form is lost. */
export const LegalLinks = (parts: { branding: PageBranding; language: Language }) => {
  const { supportUrl, termsUrl, privacyUrl } = parts.branding
  const words = WORDS[parts.language].legal
  const links = [
    [supportUrl, words.support],
    [termsUrl, words.terms],
    [privacyUrl, words.privacy],
  ].flatMap(([href, label]) => (href ? [{ href, label }] : []))
  if (links.length === 0) return null
  return (
    <nav class="legal" aria-label={words.label}>
      {links.map(({ href, label }) => (
        <a href={href} target="_blank" rel="noopener noreferrer">
          {label}
        </a>
      ))}
    </nav>
  )
}
