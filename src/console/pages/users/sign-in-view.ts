export interface ProviderView {
  id: string
  name: string
  isOn: boolean
  /** Names of missing settings. */
  missing: readonly string[]
}

/** What the page of the sign-in methods shows. */
export interface SignInView {
  providers: readonly ProviderView[]
  hasCode: boolean
  hasMail: boolean
  hasSecondFactor: boolean
  returnUrls: readonly string[]
}
