import { MailSample } from '../../../../views/branding/mail-sample.tsx'
import { ActionButton, Button } from '../../../../views/ui/form/button.tsx'
import { Field } from '../../../../views/ui/form/field.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { Textarea } from '../../../../views/ui/form/textarea.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { FilterChips } from '../../../../views/ui/tabs.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import type { MailContent } from '../../../engines/gate/sign-in/mail-templates/contents.ts'
import type { TenantMail } from '../../../engines/gate/sign-in/mail-templates/tenant-mails.ts'
import { isMailKind, type MailKind } from '../../../engines/gate/sign-in/mail-templates/texts.ts'
import { LANGUAGES, type Language } from '../../../engines/gate/sign-in/model.ts'
import type { Fields } from '../../../http/body.ts'
import { AppError, conflict, fail, notFound } from '../../../platform/errors.ts'
import { trimmedText } from '../../form.ts'
import { good, type PageContext, page, usePage, warn } from '../../page.tsx'
import { isPreview } from '../form-preview.tsx'
import { NoMailServer } from '../no-mail-server.tsx'
import { LANGUAGE_NAMES, MAIL_NAMES, PLACEHOLDER_MEANINGS } from './mail-names.ts'
import { belowBase, previewed, SAMPLED_FORM, Samples } from './samples.tsx'

interface EmailView {
  text: TenantMail
  mail: MailContent
  sender: string
  /** Whether the operator's own address is verified. */
  isVerified: boolean
}

/** The subject and introduction of one email, in one language. */
export const brandingEmailPage = page({
  path: '/settings/branding/emails/:kind',
  section: 'settings',
  right: 'read',

  load(context): EmailView {
    const { branding, gate, tenantId, layout, submission, mail: outbox } = context
    const [kind, language] = [kindOf(context), languageOf(context)]
    const unsaved = previewed(submission)
    const look = belowBase(branding.of(tenantId), layout.base())
    const stored = gate.tenantMails.find({ tenantId }, kind, language)
    const text = unsaved && textIn(unsaved, stored)
    const mail = gate.tenantMails.preview(tenantId, kind, language, { ...(text && { text }) })
    const sender = look.senderName ?? outbox.senderName
    const isVerified = context.gateOperators.operatorList.isVerified(context.operator.id)
    return { text: stored, mail: { ...mail, look }, sender, isVerified }
  },

  title: ({ text }) => MAIL_NAMES[text.kind].name,
  above: (_, { href }) => [{ label: 'Branding', href: href('/settings/branding') }],

  view({ text, mail, sender, isVerified }) {
    const { may, href, actionHref, mail: outbox } = usePage()
    const { name, when } = MAIL_NAMES[text.kind]
    return (
      <>
        <PageHead
          title={name}
          state={{ sentence: when }}
          aside={
            may('settings') &&
            isVerified &&
            outbox.hasServer && (
              <ActionButton action={actionHref('test')} fields={{ language: text.language }}>
                Send test email
              </ActionButton>
            )
          }
        />
        <FilterChips
          label="Language"
          tabs={LANGUAGES.map((language) => ({
            label: LANGUAGE_NAMES[language],
            href: href(`/settings/branding/emails/${text.kind}`, { language }),
            isCurrent: language === text.language,
          }))}
        />
        <div class="withsample">
          <div>
            {may('settings') ? (
              <>
                <TestHint isVerified={isVerified} />
                <TextForm text={text} />
              </>
            ) : (
              <p class="hint">Only owners can change the texts of emails.</p>
            )}
          </div>
          <Samples accent={mail.look?.accent ?? null}>
            <h3>Light mode</h3>
            <MailSample mail={mail} sender={sender} theme="light" />
            <h3>Dark mode</h3>
            <MailSample mail={mail} sender={sender} theme="dark" />
          </Samples>
        </div>
      </>
    )
  },

  actions: {
    test: {
      right: 'settings',
      flash: {
        sent: good('Test email with the saved text sent to your address.'),
        limited: warn('Not sent: too many test emails. Try again later.'),
      },
      run: sendTest,
    },
    '': {
      right: 'settings',
      form: { subject: 'subject', intro: 'intro' },
      flash: good('Email saved.'),
      async run(context) {
        const { gate, tenantId, fields, caller } = context
        const [kind, language] = [kindOf(context), languageOf(context)]
        const text = textIn(fields, gate.tenantMails.find({ tenantId }, kind, language))
        if (isPreview(fields)) {
          gate.tenantMails.preview(tenantId, kind, language, { text })
          return { again: true }
        }
        await gate.tenantMails.change(caller('gate', 'live'), { kind, language, ...text })
        return { query: { language } }
      },
    },
  },
})

/** Emails go only to the operator's own verified address, so they bother no one else. */
async function sendTest(context: PageContext<'/:kind'>) {
  const { gate, gateOperators, operator, mail, caller } = context
  const [kind, language] = [kindOf(context), languageOf(context)]
  if (!mail.hasServer) throw conflict('no mail server is configured')
  if (!gateOperators.operatorList.isVerified(operator.id))
    throw conflict('your email address is not verified; verify it under Account')
  const query = { language }
  try {
    await gate.tenantMails.sendTest(caller('gate', 'live'), {
      kind,
      language,
      recipient: operator.email,
    })
    return { flash: 'sent' as const, query }
  } catch (error) {
    if (error instanceof AppError && error.kind === 'rate_limited')
      return { flash: 'limited' as const, query }
    throw error
  }
}

/** What a test email needs, if anything. */
function TestHint({ isVerified }: { isVerified: boolean }) {
  const { mail, href, operator } = usePage()
  if (!mail.hasServer)
    return (
      <p class="hint">
        Test emails can't be sent yet. <NoMailServer />
      </p>
    )
  return isVerified ? (
    <p class="hint">
      Test emails contain the saved text and sample values, and go to{' '}
      <Text text={operator.email} limit={64} />.
    </p>
  ) : (
    <p class="hint">
      To send yourself a test email, verify your address under{' '}
      <a href={href('/account')}>Account</a>.
    </p>
  )
}

const kindOf = ({ params }: Pick<PageContext<'/:kind'>, 'params'>): MailKind =>
  isMailKind(params.kind) ? params.kind : fail(notFound('email not found'))

/** In the form, otherwise in the address; English unless it is given. */
function languageOf({ fields, query }: Pick<PageContext, 'fields' | 'query'>): Language {
  const wanted = trimmedText(fields, 'language') || query.language || 'en'
  return LANGUAGES.find((known) => known === wanted) ?? fail(notFound('email not found'))
}

/** The default text, unchanged or cleared, is no text of the tenant's own. */
function textIn(fields: Fields, { defaultSubject, defaultIntro }: TenantMail) {
  const [subject, intro] = [trimmedText(fields, 'subject'), trimmedText(fields, 'intro')]
  return {
    subject: subject === defaultSubject ? null : subject || null,
    intro: intro === defaultIntro ? null : intro || null,
  }
}

const TextForm = ({ text }: { text: TenantMail }) => (
  <PageForm
    action=""
    id={SAMPLED_FORM}
    hidden={{ language: text.language }}
    buttons={
      <>
        <Button weight="primary">Save email</Button>
        <noscript>
          <Button name="intent" value="preview">
            Preview
          </Button>
        </noscript>
      </>
    }
  >
    <Field
      name="subject"
      label="Subject"
      value={text.subject ?? text.defaultSubject}
      placeholder={text.defaultSubject}
      help={
        <>
          Can contain <code>{'{{name}}'}</code> (display name). Clear it to restore the default.
        </>
      }
    />
    <Textarea
      name="intro"
      label="Introduction"
      rows={6}
      value={text.intro ?? text.defaultIntro}
      placeholder={text.defaultIntro}
      help={
        <>
          Plain text with an empty line between paragraphs. Can contain{' '}
          {text.placeholders.map((name, position) => (
            <>
              {position > 0 && ', '}
              <code>{`{{${name}}}`}</code> ({PLACEHOLDER_MEANINGS[name]})
            </>
          ))}
          . Clear it to restore the default.
        </>
      }
    />
    <p class="hint">
      Codes, links, their expiry and security notes are part of every email. Links in the
      introduction are refused, so that users can trust the one that Gatehouse adds.
    </p>
  </PageForm>
)
