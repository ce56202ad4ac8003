import { type AnyProvider, OPERATOR_PROVIDERS } from '../../../../config/index.ts'
import { UNSAFE_IN_LINE } from '../../../../platform/unsafe-characters.ts'
import type { Traits } from '../../identities/traits.ts'
import { providerName } from '../flows/ui/index.ts'
import type { Person } from './provider.ts'

export const isForOperators = (provider: AnyProvider): boolean =>
  OPERATOR_PROVIDERS.some((name) => name === provider)

/** Traits of a new operator besides the address: contract/gate, tenant social registration. */
export function operatorTraits(
  provider: AnyProvider,
  { name = '', locale }: Pick<Person, 'name' | 'locale'>,
): Omit<Traits, 'email'> {
  const shown = name.replaceAll(UNSAFE_IN_LINE, ' ').trim()
  return {
    display_name: shown === '' ? `${providerName(provider)} User` : shown,
    ...(locale !== undefined && { locale: locale.slice(0, 2).toLowerCase() }),
  }
}
