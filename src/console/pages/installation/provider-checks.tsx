import { Events } from '../../../../views/ui/events.tsx'
import { type Fact, Facts, Section } from '../../../../views/ui/section.tsx'
import { StatusBadge, type Tone } from '../../../../views/ui/status.tsx'
import { LongText, Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import type { TestSignIn } from '../../../engines/gate/operators/test-sign-ins.ts'
import type { ProviderCheck, SignInCheck } from '../../../engines/gate/sign-in/social/index.ts'

const ABOUT: Readonly<Record<ProviderCheck['about'], string>> = {
  addresses: 'Configuration',
  keys: 'Signing keys',
  authorization: 'Authorization',
  credentials: 'Credentials',
  id_token: 'ID token',
  profile: 'Account',
  email: 'Email address',
}

const TONES: Readonly<Record<ProviderCheck['result'], Tone>> = {
  ok: 'good',
  failed: 'bad',
  unknown: 'warn',
  limited: 'warn',
}

const Checks = ({ label, checks }: { label: string; checks: readonly ProviderCheck[] }) => (
  <Events
    label={label}
    events={checks.map(({ about, result, message }) => ({
      tone: TONES[result],
      title: ABOUT[about],
      text: <LongText text={message} />,
    }))}
  />
)

/** Result of a test without a user. */
export const ConnectionTest = ({ checks }: { checks: readonly ProviderCheck[] }) => (
  <Section
    id="result"
    title="Connection test"
    note="Without a user, a provider doesn't check the redirect URL. Select Sign in to test to be sure."
  >
    <Checks label="Connection test" checks={checks} />
  </Section>
)

/** Result of a test with an account of the admin. */
export const SignInTest = ({ test, isStored }: { test: TestSignIn; isStored: boolean }) => (
  <Section
    id="test-sign-in"
    title="Test sign-in"
    note={
      <>
        {test.result ? 'Tested' : 'Started'} <Time at={test.at} />. No user is created or signed in.
      </>
    }
  >
    {test.result ? <SignInResult {...test.result} isStored={isStored} /> : <Pending />}
  </Section>
)

const SignInResult = ({ checks, account, isStored }: SignInCheck & { isStored: boolean }) => (
  <div class="stack">
    {account && <Facts facts={factsOf(account, isStored)} />}
    <Checks label="Test sign-in" checks={checks} />
  </div>
)

const Pending = () => (
  <Events
    label="Test sign-in"
    events={[
      {
        tone: 'warn',
        title: 'Sign-in not finished',
        text: 'If the provider shows an error about the redirect URL, register exactly the one below. If it shows one about the client, check the client ID. Then test again.',
      },
    ]}
  />
)

const factsOf = (
  { subject, email, isEmailVerified, name, locale }: NonNullable<SignInCheck['account']>,
  isStored: boolean,
): Fact[] => [
  ['Account ID', <Text text={subject} />],
  [
    'Email',
    email !== undefined && (
      <>
        <Text text={email} />{' '}
        <StatusBadge
          tone={isEmailVerified ? 'good' : 'warn'}
          word={isEmailVerified ? 'verified' : 'not verified'}
        />
      </>
    ),
  ],
  [
    'Name',
    name !== undefined && (
      <>
        <Text text={name} /> {!isStored && <span class="hint">(not stored)</span>}
      </>
    ),
  ],
  ...(locale === undefined ? [] : [['Language', <Text text={locale} />] as const]),
]
