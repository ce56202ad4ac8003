import { type Column, DataTable } from '../../../data-table.tsx'
import { Section } from '../../../section.tsx'
import { url } from '../../../url.ts'
import { SIGN_IN, Switch, Switched } from './marks.tsx'
import type { SignInView } from './page.tsx'

/** Ways that need nobody else. */
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
  /** False for what is always on. */
  isSwitched: boolean
  trouble?: string
}

const methodsOf = ({ hasCode, hasMail, hasSecondFactor }: SignInView): Method[] => [
  {
    id: 'password',
    name: 'Password',
    text: 'Always on: for those who have one.',
    isOn: true,
    isSwitched: false,
  },
  {
    id: 'code',
    name: 'Code by mail',
    text: 'Six digits to the address, in place of a password.',
    isOn: hasCode,
    isSwitched: true,
    ...(!hasMail && { trouble: 'no mail server: mail.smtp_url is not set' }),
  },
  {
    id: 'second-factor',
    name: 'Second factor',
    text: 'Asked of those who have set up an authenticator; off, nobody is asked.',
    isOn: hasSecondFactor,
    isSwitched: true,
  },
]

const methodColumns = (base: string, mayChange: boolean): Column<Method>[] => [
  { label: 'Method', cell: ({ name }) => name },
  { label: 'State', narrow: 'corner', cell: (method) => <Switched {...method} /> },
  {
    label: 'What it is',
    isWide: true,
    narrow: 'bare',
    cell: ({ text, trouble }) => (
      <span class="hint">{trouble === undefined ? text : `${text} Now there is ${trouble}.`}</span>
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
