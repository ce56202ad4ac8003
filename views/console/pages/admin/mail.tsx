import type { MailSummary } from '../../../../src/platform/mail/index.ts'
import { CodeBlock } from '../../code-block.tsx'
import { Confirm, DangerZone } from '../../confirm.tsx'
import { type Fact, Facts } from '../../facts.tsx'
import { ActionButton } from '../../form/button.tsx'
import { Id } from '../../id.tsx'
import { PageHead } from '../../page-head.tsx'
import { Section } from '../../section.tsx'
import { StatusBadge } from '../../status-badge.tsx'
import { LongText, Text } from '../../text.tsx'
import { Time } from '../../time.tsx'
import { url } from '../../url.ts'
import { numeral } from '../../words.ts'
import { MAIL_BADGES, type MailRow } from './mails.tsx'

const PATH = '/console/admin/mail'

/** One email: its state, and its text if no mail server is configured. */
export const MailPage = (page: {
  base: string
  mail: MailRow
  /** Null if it must not be shown, or was erased. */
  text: string | null
  hasServer: boolean
  now: number
}) => {
  const { base, mail, text, now } = page
  return (
    <>
      <PageHead
        title={mail.subject === null ? 'Email' : <Text text={mail.subject} />}
        state={{ tone: MAIL_BADGES[mail.state].tone, sentence: sentenceOnState(mail, now) }}
        action={
          mail.state === 'waiting' && (
            <ActionButton weight="primary" action={url(base, `${PATH}/${mail.id}/send`)}>
              Send now
            </ActionButton>
          )
        }
      />
      <Section id="about" title="About" isCard>
        <Facts facts={factsOf(base, mail, now)} />
      </Section>
      <Section id="letter" title="Content">
        {text === null ? (
          <p class="hint">{hiddenReason(mail, page.hasServer)}</p>
        ) : (
          <>
            <p class="hint">
              The codes and links are valid: anyone who reads them can sign in as the recipient.
            </p>
            <CodeBlock title="Text" what="text" wraps>
              <LongText text={text} />
            </CodeBlock>
          </>
        )}
      </Section>
      {mail.state !== 'leased' && <DangerZone items={[removal(base, mail)]} />}
    </>
  )
}

const removal = (base: string, { id, endedAt }: MailRow) => ({
  title: 'Delete email',
  text:
    endedAt === null
      ? 'The email is not sent. The recipient has to request a new one.'
      : 'Only the event in the audit log is kept.',
  control: (
    <Confirm
      id="delete"
      verb="Delete email"
      question="Delete this email?"
      consequence="This can't be undone."
      action={url(base, `${PATH}/${id}/delete`)}
    />
  ),
})

const factsOf = (base: string, mail: MailRow, now: number): Fact[] => [
  ['ID', <Id id={mail.id} what="email ID" />],
  ['Recipient', mail.recipient === null ? 'Erased' : <Text text={mail.recipient} />],
  ['Kind', <Text text={mail.kind} />],
  [
    'Tenant',
    mail.owner.id === undefined ? (
      mail.owner.name
    ) : (
      <a href={url(base, `/console/admin/tenants/${mail.owner.id}`)}>
        <Text text={mail.owner.name} limit={60} />
      </a>
    ),
  ],
  ['Status', <StatusBadge {...MAIL_BADGES[mail.state]} />],
  ['Attempts', numeral(mail.tries)],
  ['Last error', mail.lastError === null ? 'None' : <LongText text={mail.lastError} />],
  ['Created', <Time at={mail.createdAt} now={now} />],
  ['Expires', <Time at={mail.expiresAt} now={now} />],
  ...(mail.endedAt === null ? [] : [['Ended', <Time at={mail.endedAt} now={now} />] as const]),
]

function sentenceOnState(mail: MailSummary, now: number) {
  switch (mail.state) {
    case 'kept':
      return 'Held until a mail server is configured or the email expires'
    case 'ready':
      return 'Queued'
    case 'leased':
      return 'Sending'
    case 'waiting':
      return (
        <>
          Not sent yet. Next attempt: <Time at={mail.dueAt} now={now} />
        </>
      )
    case 'sent':
      return 'Accepted by the mail server'
    case 'failed':
      return 'Failed. No further attempts.'
  }
}

function hiddenReason({ endedAt }: MailSummary, hasServer: boolean): string {
  if (endedAt !== null) return 'The content was erased when the email was sent, failed or expired.'
  return hasServer
    ? 'Only the recipient can read it. The content is shown here only if no mail server is configured.'
    : "The content can't be decrypted: it was sealed with another master key."
}
