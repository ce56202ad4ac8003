import { AuthorizationResponseError } from 'oauth4webapi'
import type { AnyProvider } from '../../../../config/index.ts'
import type { ProviderCheck } from './check.ts'
import { type SocialProfile, STEPS, type Step } from './connection.ts'
import { asSocialError, type Refusal, reasonIn, SocialError } from './errors.ts'
import { isForOperators, operatorTraits } from './operator-traits.ts'
import { providers } from './providers/index.ts'
import { refusalOf, remedyFor } from './token-refusal.ts'

/** How far a sign-in came; with the account, as Gatehouse would use it, if it came to the end. */
export interface SignInCheck {
  checks: ProviderCheck[]
  account?: CheckedAccount
}

export interface CheckedAccount {
  subject: string
  email?: string | undefined
  isEmailVerified: boolean
  name?: string | undefined
  /** For operators only. */
  locale?: string | undefined
}

/** Follows a sign-in step by step. `work` calls `reach` before each step after the first. */
export async function checkSignIn(
  name: AnyProvider,
  work: (reach: (step: Step) => void) => Promise<SocialProfile>,
): Promise<SignInCheck> {
  const isOpenId = providers[name].kind === 'openid'
  const steps = STEPS.filter((step) => isOpenId || step !== 'id_token')
  let reached: Step = 'authorization'
  const passed = (until: number) =>
    steps.slice(0, until).map((about) => ({ about, result: 'ok' as const, message: PASSED[about] }))
  try {
    const profile = await work((step) => {
      reached = step
    })
    return {
      checks: [...passed(steps.length), emailCheck(name, profile)],
      account: accountOf(name, profile),
    }
  } catch (error) {
    const message = problemOf(name, reached, error)
    return {
      checks: [...passed(steps.indexOf(reached)), { about: reached, result: 'failed', message }],
    }
  }
}

const PASSED: Readonly<Record<Step, string>> = {
  authorization: 'The provider accepts the client ID and the redirect URL.',
  credentials: 'The provider accepts the client and its code.',
  id_token: 'The provider signed it for this client.',
  profile: 'The provider shares the account.',
}

function problemOf(name: AnyProvider, step: Step, error: unknown): string {
  const { scopes } = providers[name]
  const remedy = `Check ${TO_CHECK[step]}${step === 'profile' ? `: ${scopes}` : ''}.`
  const refusal = refusalIn(error)
  if (!refusal) return `${reasonIn(error)}. ${remedy}`
  const { words } = refusal
  if (asSocialError(name, error).reason === 'denied')
    return `Access was denied or cancelled (${words}). Allow it, with an account that the app is open to: until it is published, that may be test users only.`
  if (words.includes('invalid_scope'))
    return `The app may not ask for these scopes: ${scopes} (${words}). Add them to the app.`
  if (refusal.about === 'code')
    return `The code is rejected (${words}). Start again. If that doesn't help, check that ID and secret belong to the same app.`
  return remedyFor(refusal) ?? `The provider reports an error (${words}). ${remedy}`
}

const TO_CHECK: Readonly<Record<Step, string>> = {
  authorization: 'the app at the provider',
  credentials: 'the credentials and the URLs',
  id_token: 'the issuer, the key set URL and the clock of this server',
  profile: 'the user info URL, and that the app may use the scopes',
}

function refusalIn(error: unknown): Refusal | undefined {
  if (error instanceof SocialError) return error.refusal
  if (!(error instanceof AuthorizationResponseError)) return undefined
  return refusalOf([error.error, error.error_description].filter(Boolean).join(': '))
}

function emailCheck(
  name: AnyProvider,
  { email, isEmailVerified, scopes }: SocialProfile,
): ProviderCheck {
  const told = (result: ProviderCheck['result'], message: string) =>
    ({ about: 'email', result, message }) as const
  if (isEmailVerified) return told('ok', 'The provider confirms the address.')
  if (email !== undefined)
    return told(
      'limited',
      "The provider doesn't confirm the address, so Gatehouse verifies it by email.",
    )
  const granted = scopes ? `; granted: ${scopes.join(' ')}` : ''
  return told(
    'limited',
    `The provider shares no address, so users are asked for one at sign-up. Check that the account has one and that the app may read it. Requested scopes: ${providers[name].scopes}${granted}.`,
  )
}

function accountOf(name: AnyProvider, profile: SocialProfile): CheckedAccount {
  const { subject, email, isEmailVerified } = profile
  const known = { subject, email, isEmailVerified }
  if (!isForOperators(name)) return { ...known, name: profile.name }
  const { display_name, locale } = operatorTraits(name, profile)
  return { ...known, name: display_name, locale }
}
