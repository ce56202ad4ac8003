import { type Column, DataTable } from '../../../data-table.tsx'
import { Section } from '../../../section.tsx'
import { url } from '../../../url.ts'
import { SIGN_IN, Switch, Switched } from './badges.tsx'
import type { SignInView } from './sign-in-view.ts'

/** Sign-in methods other than social login. */
export const Methods = (page: SignInView) => (
  <Section id="methods" title="Methods">
    <DataTable
      caption="Methods"
      rows={methodsOf(page)}
      columns={methodColumns(page.base, page.mayChange)}
      idOf={({ id }) => id}
    />
  </Section>
)

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

const methodColumns = (base: string, mayChange: boolean): Column<Method>[] => [
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
  ...(mayChange
    ? [
        {
          label: '',
          align: 'right' as const,
          narrow: 'bare' as const,
          cell: ({ id, name, isOn, isSwitched }: Method) =>
            isSwitched && (
              <Switch isOn={isOn} name={name} action={url(base, `${SIGN_IN}/methods/${id}`)} />
            ),
        },
      ]
    : []),
]
