import { initialOf } from './name.ts'

/** As in a table of elements. Drawings of their own makers are theirs. */
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

/** The badge of a provider. One that is not known gets its first letter. */
export const ProviderMark = ({ provider: id }: { provider: string }) => {
  const provider = makerOf(id)
  const symbol = Object.hasOwn(SYMBOLS, provider) ? SYMBOLS[provider] : undefined
  return (
    <span class={`mark ${symbol ? provider : ''}`} aria-hidden="true">
      {symbol ?? initialOf(provider) ?? '?'}
    </span>
  )
}

/** Whoever stands behind a client for operators, such as `github-tenant`. */
const makerOf = (provider: string): string => provider.replace(/-tenant$/, '')
