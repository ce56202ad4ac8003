import { CodeBlock } from '../../../../views/ui/code.tsx'
import { DangerZone } from '../../../../views/ui/confirm.tsx'
import { ActionButton } from '../../../../views/ui/form/button.tsx'
import { useHere } from '../../../../views/ui/here.tsx'
import { Id } from '../../../../views/ui/id.tsx'
import { type Fact, Facts, PageHead, Section } from '../../../../views/ui/section.tsx'
import { StatusBadge } from '../../../../views/ui/status.tsx'
import { LongText, Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import { numeral } from '../../../../views/ui/words.ts'
import { fail, notFound } from '../../../platform/errors.ts'
import type { MailSummary } from '../../../platform/mail/index.ts'
import { good, page } from '../../page.tsx'
import { deleteMail, MAIL_BADGES, type MailRow, ownerOf, sendNow } from './outbox.tsx'

/** One email: its state, and its text if no mail server is configured, because it can contain sign-in codes. */
export const emailPage = page({
  path: '/mail/:id',
  section: 'mail',
  right: 'admin',

  load(context) {
    const { mail, params } = context
    const { body, ...found } =
      mail.outbox.read('all', params.id) ?? fail(notFound('mail not found'))
    return {
      mail: { ...found, owner: ownerOf(context, found) },
      /** Null if it must not be shown, or was erased. */
      text: mail.hasServer ? null : (body?.text ?? null),
      hasServer: mail.hasServer,
    }
  },

  title: ({ mail }) => mail.subject ?? 'Email',

  view({ mail, text, hasServer }) {
    const { actionHref } = useHere()
    return (
      <>
        <PageHead
          title={mail.subject === null ? 'Email' : <Text text={mail.subject} />}
          state={{ tone: MAIL_BADGES[mail.state].tone, sentence: sentenceOnState(mail) }}
          action={
            mail.state === 'waiting' && (
              <ActionButton weight="primary" action={actionHref('send')}>
                Send now
              </ActionButton>
            )
          }
        />
        <Section id="about" title="About" isCard>
          <Facts facts={factsOf(mail)} />
        </Section>
        <Section id="letter" title="Content">
          {text === null ? (
            <p class="hint">{hiddenReason(mail, hasServer)}</p>
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
        {mail.state !== 'leased' && <DangerZone items={[removal(mail)]} />}
      </>
    )
  },

  actions: {
    send: {
      right: 'admin',
      flash: good('Email queued to be sent now.'),
      run: (context) => sendNow(context, context.params.id),
    },
    delete: {
      right: 'admin',
      flash: good('Email deleted.'),
      async run(context) {
        await deleteMail(context, context.params.id)
        return { to: '/mail' }
      },
    },
  },
})

const removal = ({ endedAt }: MailRow) => ({
  text:
    endedAt === null
      ? 'The email is not sent. The recipient has to request a new one.'
      : 'Only the event in the audit log is kept.',
  id: 'delete',
  verb: 'Delete email',
  question: 'Delete this email?',
  consequence: "This can't be undone.",
  action: useHere().actionHref('delete'),
})

const factsOf = (mail: MailRow): Fact[] => [
  ['ID', <Id id={mail.id} what="email ID" />],
  ['Recipient', mail.recipient === null ? 'Erased' : <Text text={mail.recipient} />],
  ['Kind', <Text text={mail.kind} />],
  [
    'Tenant',
    mail.owner.id === undefined ? (
      mail.owner.name
    ) : (
      <a href={useHere().href(`/tenants/${mail.owner.id}`)}>
        <Text text={mail.owner.name} limit={60} />
      </a>
    ),
  ],
  ['Status', <StatusBadge {...MAIL_BADGES[mail.state]} />],
  ['Attempts', numeral(mail.tries)],
  ['Last error', mail.lastError === null ? 'None' : <LongText text={mail.lastError} />],
  ['Created', <Time at={mail.createdAt} />],
  ['Expires', <Time at={mail.expiresAt} />],
  ...(mail.endedAt === null ? [] : [['Ended', <Time at={mail.endedAt} />] as const]),
]

function sentenceOnState(mail: MailSummary) {
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
          Not sent yet. Next attempt: <Time at={mail.dueAt} />
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
