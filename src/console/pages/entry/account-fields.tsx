import type { ComponentChildren } from 'preact'
import { PlainLayout } from '../../../../views/layout/plain-layout.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { Field, rawText } from '../../../../views/ui/form/field.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import type { Fields } from '../../../http/body.ts'
import { trimmedText } from '../../form.ts'
import { themeOf } from '../../layout.ts'
import { usePage } from '../../page.tsx'

/** A page before the console: one card, for the sign-in and the set-up. */
export function EntryLayout({
  children,
  ...page
}: {
  title: ComponentChildren
  windowTitle: string
  intro: string | undefined
  steps?: { at: number; names: readonly string[] }
  isWide?: boolean
  isLive?: boolean
  children: ComponentChildren
}) {
  const { layout, request, liveSource } = usePage()
  return (
    <PlainLayout base={layout.base()} theme={themeOf(request)} {...page}>
      {liveSource}
      {children}
    </PlainLayout>
  )
}

/** A link that was used or has expired, and what to do next. */
export const UsedUp = ({ what, next }: { what: string; next: string }) => (
  <EntryLayout
    windowTitle="Link expired"
    title={`This ${what} has expired`}
    intro="It was already used or is too old."
  >
    <p>{next}</p>
    <div class="actions">
      <LinkButton href={usePage().href('')}>Go to the console</LinkButton>
    </div>
  </EntryLayout>
)

/** Fields of a new account. An address that is already known is not asked for. */
export const AccountFields = ({ email }: { email?: string }) => (
  <>
    <Field name="name" label="Your name" autocomplete="name" isRequired isFocused />
    {email === undefined ? (
      <Field name="email" label="Email" type="email" autocomplete="username" isRequired />
    ) : (
      <p class="hint">
        You sign in as <Text text={email} limit={80} />.
      </p>
    )}
    <Field
      name="password"
      label="Password"
      type="password"
      autocomplete="new-password"
      help="At least 8 characters. Avoid common passwords."
      isRequired
    />
  </>
)

/** Values of `AccountFields`. */
export const newcomerIn = (fields: Fields) => ({
  displayName: trimmedText(fields, 'name'),
  email: trimmedText(fields, 'email'),
  password: rawText(fields, 'password') ?? '',
})

/** Names of fields in the engine, and in these forms. */
export const ACCOUNT_FORM = {
  'traits.email': 'email',
  'traits.display_name': 'name',
  password: 'password',
  name: 'tenant',
}
