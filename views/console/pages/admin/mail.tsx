import type { MailSummary } from '../../../../src/platform/mail/index.ts'
import { CodeBlock } from '../../code-block.tsx'
import { Confirm, DangerZone } from '../../confirm.tsx'
import { type Fact, Facts } from '../../facts.tsx'
import { ActionButton } from '../../form/button.tsx'
import { Id } from '../../id.tsx'
import { PageHead } from '../../page-head.tsx'
import { Section } from '../../section.tsx'
import { StatusMark } from '../../status-mark.tsx'
import { LongText, Text } from '../../text.tsx'
import { Time } from '../../time.tsx'
import { url } from '../../url.ts'
import { numeral } from '../../words.ts'
import { MAIL_MARKS, type MailLine } from './mails.tsx'

const PATH = '/console/admin/mail'

/** One mail: what became of it, and where nobody sends it, what it says. */
export const MailPage = (page: {
  base: string
  mail: MailLine
  /** Null where it is not to be shown, or not there any more. */
  text: string | null
  hasServer: boolean
  now: number
}) => {
  const { base, mail, text, now } = page
  return (
    <>
      <PageHead
        title={mail.subject === null ? 'Mail' : <Text text={mail.subject} />}
        state={{ tone: MAIL_MARKS[mail.state].tone, sentence: sentenceOnState(mail, now) }}
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
      <Section id="letter" title="Letter">
        {text === null ? (
          <p class="hint">{whyUnread(mail, page.hasServer)}</p>
        ) : (
          <>
            <p class="hint">
              Its codes and links work: whoever reads them can sign in as the recipient.
            </p>
            <CodeBlock title="Text" what="letter" wraps>
              <LongText text={text} />
            </CodeBlock>
          </>
        )}
      </Section>
      {mail.state !== 'leased' && <DangerZone items={[removal(base, mail)]} />}
    </>
  )
}

const removal = (base: string, { id, endedAt }: MailLine) => ({
  title: 'Delete it',
  text:
    endedAt === null
      ? 'It is not sent. Whoever waits for it has to ask for another.'
      : 'Nothing is left of it but a line in the audit log.',
  control: (
    <Confirm
      id="delete"
      verb="Delete mail"
      question="Delete this mail?"
      consequence="It is gone for good, with what it says."
      action={url(base, `${PATH}/${id}/delete`)}
    />
  ),
})

const factsOf = (base: string, mail: MailLine, now: number): Fact[] => [
  ['Id', <Id id={mail.id} what="mail id" />],
  ['Recipient', mail.recipient === null ? 'erased' : <Text text={mail.recipient} />],
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
  ['State', <StatusMark {...MAIL_MARKS[mail.state]} />],
  ['Tries', numeral(mail.tries)],
  ['Last error', mail.lastError === null ? 'none' : <LongText text={mail.lastError} />],
  ['Written', <Time at={mail.createdAt} now={now} />],
  ['Expires', <Time at={mail.expiresAt} now={now} />],
  ...(mail.endedAt === null ? [] : [['Ended', <Time at={mail.endedAt} now={now} />] as const]),
]

function sentenceOnState(mail: MailSummary, now: number) {
  switch (mail.state) {
    case 'kept':
      return 'Kept until there is a mail server, or until it expires.'
    case 'ready':
      return 'Due: it is sent as soon as its turn comes.'
    case 'leased':
      return 'Being handed to the mail server.'
    case 'waiting':
      return (
        <>
          Could not be sent yet. Next try: <Time at={mail.dueAt} now={now} />.
        </>
      )
    case 'sent':
      return 'The mail server has taken it.'
    case 'failed':
      return 'Not sent, and not tried again.'
  }
}

function whyUnread({ endedAt }: MailSummary, hasServer: boolean): string {
  if (endedAt !== null) return 'What it said is erased: that is so once a mail has ended.'
  return hasServer
    ? 'It goes to its recipient alone. Letters are shown here only where there is no mail server.'
    : 'It cannot be opened: another master key has sealed it.'
}
