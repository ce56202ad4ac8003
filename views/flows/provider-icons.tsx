import { initialOf } from './name.ts'

/** Abbreviations, because the logos belong to their providers. */
const SYMBOLS: Record<string, string> = {
  github: 'Gh',
  google: 'Go',
  gitlab: 'Gl',
  microsoft: 'Ms',
  discord: 'Di',
  facebook: 'Fb',
  linkedin: 'Li',
  apple: 'Ap',
  slack: 'Sl',
  twitch: 'Tw',
  spotify: 'Sp',
}

/** The badge of a provider; an unknown one gets its first letter. */
export const ProviderIcon = ({ provider: id }: { provider: string }) => {
  const provider = baseProviderOf(id)
  const symbol = Object.hasOwn(SYMBOLS, provider) ? SYMBOLS[provider] : undefined
  return (
    <span class={`mark ${symbol ? provider : ''}`} aria-hidden="true">
      {symbol ?? initialOf(provider) ?? '?'}
    </span>
  )
}

/** The provider of an operators' client, such as `github-tenant`. */
const baseProviderOf = (provider: string): string => provider.replace(/-tenant$/, '')
