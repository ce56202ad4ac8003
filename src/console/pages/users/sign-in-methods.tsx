import { Section } from '../../../../views/ui/section.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { usePage } from '../../page.tsx'
import { Switch, Switched } from './sign-in-badges.tsx'
import type { SignInView } from './sign-in-view.ts'

/** Sign-in methods other than social login. */
export function Methods(view: SignInView) {
  const { may } = usePage()
  return (
    <Section id="methods" title="Methods">
      <DataTable
        caption="Methods"
        rows={methodsOf(view)}
        columns={may('change') ? [...COLUMNS, SWITCH] : COLUMNS}
        idOf={({ id }) => id}
      />
    </Section>
  )
}

interface Method {
  id: string
  name: string
  text: string
  isOn: boolean
  /** False for methods that are always enabled. */
  isSwitched: boolean
  issue?: string
}

const methodsOf = ({ hasCode, hasMail, hasSecondFactor }: SignInView): Method[] => [
  {
    id: 'password',
    name: 'Password',
    text: 'Always enabled, for users who have a password.',
    isOn: true,
    isSwitched: false,
  },
  {
    id: 'code',
    name: 'Email code',
    text: 'A 6-digit code sent by email, instead of a password.',
    isOn: hasCode,
    isSwitched: true,
    ...(!hasMail && { issue: 'No mail server: set mail.smtp_url' }),
  },
  {
    id: 'second-factor',
    name: 'Two-factor authentication',
    text: 'Required for users who set up an authenticator app. If disabled, sign-in never requires it.',
    isOn: hasSecondFactor,
    isSwitched: true,
  },
]

const COLUMNS: Column<Method>[] = [
  { label: 'Method', cell: ({ name }) => name },
  { label: 'Status', narrow: 'corner', cell: (method) => <Switched {...method} /> },
  {
    label: 'Description',
    isWide: true,
    narrow: 'bare',
    cell: ({ text, issue }) => (
      <span class="hint">{issue === undefined ? text : `${text} ${issue}.`}</span>
    ),
  },
]

const SWITCH: Column<Method> = {
  label: '',
  align: 'right',
  narrow: 'bare',
  cell: ({ id, name, isOn, isSwitched }) =>
    isSwitched && (
      <Switch isOn={isOn} name={name} action={usePage().href(`/sign-in/methods/${id}`)} />
    ),
}
