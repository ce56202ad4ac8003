import { CodeBlock } from '../../../../views/ui/code.tsx'
import { DangerZone } from '../../../../views/ui/confirm.tsx'
import { Events } from '../../../../views/ui/events.tsx'
import { ActionButton, Button, LinkButton } from '../../../../views/ui/form/button.tsx'
import { Radios } from '../../../../views/ui/form/choices.tsx'
import { Field } from '../../../../views/ui/form/field.tsx'
import { FieldRow, PageForm } from '../../../../views/ui/form/form.tsx'
import { PageHead, Section } from '../../../../views/ui/section.tsx'
import type { Tone } from '../../../../views/ui/status.tsx'
import { LongText, Text } from '../../../../views/ui/text.tsx'
import { counted } from '../../../../views/ui/words.ts'
import { host } from '../../../config/addresses.ts'
import type { StoredValues } from '../../../config/index.ts'
import { integer } from '../../../config/kinds.ts'
import type { Fields } from '../../../http/body.ts'
import { conflict, fail, invalid } from '../../../platform/errors.ts'
import type { TestMail } from '../../../platform/mail/index.ts'
import {
  type MailServer,
  mailServerOf,
  smtpUrlOf,
  usualPort,
} from '../../../platform/mail/server.ts'
import { checkAll, trimmedText } from '../../form.ts'
import { good, page, usePage } from '../../page.tsx'
import { GivenTable } from './given-table.tsx'

interface MailServerView {
  source: 'configuration' | 'database' | 'unusable' | undefined
  /** Undefined without a mail server; `from` is the sender of all emails. */
  server: (MailServer & { from: string }) | undefined
  /** Emails that wait for a mail server. */
  held: number
  test: TestMail | undefined
}

/** The mail server of the installation: set up, test and remove. */
export const mailServerPage = page({
  path: '/mail-server',
  section: 'mailServer',
  right: 'admin',
  title: 'Mail server',

  load({ installationSettings, mail, result }): MailServerView {
    const { smtpUrl, from = '' } = installationSettings.current().mail
    return {
      source: installationSettings.sourceOf('mail'),
      server: smtpUrl === undefined ? undefined : { ...mailServerOf(smtpUrl), from },
      held: mail.outbox.open().kept,
      test: result as TestMail | undefined,
    }
  },

  view(view) {
    const { actionHref, href } = usePage()
    const { source, server, test } = view
    return (
      <>
        <PageHead
          title="Mail server"
          state={stateOf(view)}
          aside={<LinkButton href={href('/mail')}>Email outbox</LinkButton>}
          action={
            server && (
              <ActionButton weight="primary" action={actionHref('test')}>
                Send test email
              </ActionButton>
            )
          }
        />
        {test && <TestResult {...test} />}
        {source === 'configuration' ? <GivenTable table="mail" /> : <ServerForm server={server} />}
        {(source === 'database' || source === 'unusable') && <DangerZone items={[removal()]} />}
      </>
    )
  },

  actions: {
    '': {
      right: 'admin',
      flash: good('Mail server saved. Send a test email to check it.'),
      form: {
        smtp_url: { name: 'host', label: 'Server' },
        host: { name: 'host', label: 'Host' },
        port: { name: 'port', label: 'Port' },
        user: { name: 'user', label: 'User name' },
        password: { name: 'password', label: 'Password' },
        from: { name: 'from', label: 'Sender' },
      },
      async run({ installationSettings, actor, fields, mail }) {
        const values = valuesIn(fields, installationSettings.storedIn('mail'))
        await installationSettings.put(actor, 'mail', values)
        mail.nudge()
      },
    },
    test: {
      right: 'admin',
      async run({ mail, tenants, operator, audit, actor, db }) {
        const result =
          (await mail.sendTest(operator.email, tenants.installationName())) ?? fail(noServer())
        const action = 'mail_server.tested'
        const detail = { accepted: result.problem === undefined }
        const object = 'installation_settings:mail'
        await db.commit(() => audit.recordForOperators({ actor, action, object, detail }))
        return { again: true, result }
      },
    },
    remove: {
      right: 'admin',
      flash: good('Mail server removed. Emails are held from now on.'),
      run: ({ installationSettings, actor }) => installationSettings.remove(actor, 'mail'),
    },
  },
})

const noServer = () => conflict('no mail server is configured; save one first')

function stateOf({ source, server, held }: MailServerView): { tone: Tone; sentence: string } {
  if (source === 'unusable')
    return {
      tone: 'bad',
      sentence:
        "The saved mail server can't be decrypted with the current master key. Enter it again.",
    }
  if (!server)
    return {
      tone: 'warn',
      sentence:
        held === 0
          ? 'Not configured. Emails are held in the outbox until you set up a mail server.'
          : `Not configured. ${counted(held, 'email')} held in the outbox.`,
    }
  return { tone: 'good', sentence: `Emails are sent through ${server.host}:${server.port}.` }
}

const TestResult = ({ server, recipient, problem, dialogue }: TestMail) => (
  <Section id="result" title="Test email">
    <Events
      label="Result"
      events={[
        problem === undefined
          ? {
              tone: 'good',
              title: <Text text={`${server} accepted the message`} limit={120} />,
              text: (
                <>
                  Check the inbox and the spam folder of <Text text={recipient} limit={80} />.
                </>
              ),
            }
          : {
              tone: 'bad',
              title: 'The message was not accepted',
              text: <LongText text={`${problem}.`} />,
            },
      ]}
    />
    {dialogue.length > 0 && (
      <details class="fold" open={problem !== undefined}>
        <summary>SMTP dialogue</summary>
        <CodeBlock title="SMTP" what="dialogue" wraps>
          {dialogue.map(({ from, text }) => `${from === 'client' ? '→' : '←'} ${text}`).join('\n')}
        </CodeBlock>
      </details>
    )}
  </Section>
)

const ServerForm = ({ server }: Pick<MailServerView, 'server'>) => (
  <Section
    id="server"
    title={server ? 'Settings' : 'Set up a mail server'}
    note="Any SMTP server or email provider. Changes take effect immediately."
    isCard
  >
    <PageForm
      action=""
      initial={initialOf(server)}
      buttons={<Button weight="primary">Save mail server</Button>}
    >
      <FieldRow>
        <Field name="host" label="Host" placeholder="smtp.example.com" isMono isRequired />
        <Field
          name="port"
          label="Port"
          placeholder="587 or 465"
          help="If empty, the usual port."
          isMono
          isRequired={false}
        />
      </FieldRow>
      <Radios
        name="security"
        label="Encryption"
        options={[
          { value: 'starttls', label: 'STARTTLS', text: 'Usually port 587' },
          { value: 'tls', label: 'TLS', text: 'From the first byte, usually port 465' },
        ]}
        isRequired
      />
      <FieldRow>
        <Field name="user" label="User name" isMono isRequired={false} />
        <Field
          name="password"
          label={server?.auth ? 'New password' : 'Password'}
          type="password"
          autocomplete="new-password"
          help={
            server?.auth
              ? 'A password is saved. Leave this empty to keep it for the same host, port and user.'
              : 'Encrypted with the master key and never shown again.'
          }
          isRequired={false}
        />
      </FieldRow>
      <Field
        name="from"
        label="Sender"
        placeholder="Acme <no-reply@example.com>"
        help="The server must allow this address: check SPF and DKIM of its domain."
        isRequired
      />
    </PageForm>
  </Section>
)

const initialOf = (server: MailServerView['server']): Fields =>
  server
    ? {
        security: server.secure ? 'tls' : 'starttls',
        host: server.host,
        port: String(server.port),
        user: server.auth?.user ?? '',
        from: server.from,
      }
    : { security: 'starttls' }

/** The values of `[mail]` from the form. An empty password keeps the one of the same host, port and user. */
function valuesIn(fields: Fields, stored: StoredValues | undefined): StoredValues {
  const secure = trimmedText(fields, 'security') === 'tls'
  const name = trimmedText(fields, 'host').replace(/^\[(.*)\]$/, '$1')
  const typedPort = trimmedText(fields, 'port')
  const port = typedPort === '' ? usualPort(secure) : Number(typedPort)
  const user = trimmedText(fields, 'user')
  const before = stored?.smtp_url === undefined ? undefined : mailServerOf(stored.smtp_url)
  const typed = typeof fields.password === 'string' ? fields.password : ''
  const isSame = before?.host === name && before.port === port && before.auth?.user === user
  const pass = typed === '' && isSame ? (before?.auth?.pass ?? '') : typed
  checkAll([
    () => {
      if ('problem' in host.read(name))
        throw invalid('must be a host name or IP address, such as smtp.example.com', {
          field: 'host',
          rule: 'format',
        })
    },
    () => {
      const read = PORT.read(PORT.fromText(typedPort === '' ? '1' : typedPort))
      if ('problem' in read) throw invalid(read.problem, { field: 'port', rule: 'range' })
    },
    () => {
      if (user !== '' && pass === '')
        throw invalid(
          before?.auth
            ? 'must be entered again for another host, port or user'
            : 'is required for this user',
          { field: 'password', rule: 'required' },
        )
      if (user === '' && pass !== '')
        throw invalid('is required for this password', { field: 'user', rule: 'required' })
    },
  ])
  return {
    smtp_url: smtpUrlOf({ host: name, port, secure, ...(user !== '' && { auth: { user, pass } }) }),
    from: trimmedText(fields, 'from'),
  }
}

const PORT = integer(1, 65_535)

const removal = () => ({
  text: 'Emails are held in the outbox. Sign-in by email code and account recovery stop working.',
  id: 'remove',
  verb: 'Remove mail server',
  question: 'Remove this mail server?',
  consequence: 'The password is deleted. Emails that are not sent yet are held.',
  action: usePage().actionHref('remove'),
})
