import type { FormError } from '../../../form/error-summary.tsx'

export interface ProviderView {
  id: string
  name: string
  isOn: boolean
  /** Names of missing settings. */
  missing: readonly string[]
}

export interface SignInView {
  base: string
  providers: readonly ProviderView[]
  hasCode: boolean
  hasMail: boolean
  hasSecondFactor: boolean
  returnUrls: readonly string[]
  mayChange: boolean
  /** Rejected return URLs, as typed. */
  input?: string
  errors?: readonly FormError[]
}
