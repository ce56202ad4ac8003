import { MailSample } from '../../../../views/branding/mail-sample.tsx'
import { Button } from '../../../../views/ui/form/button.tsx'
import { Field } from '../../../../views/ui/form/field.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { Textarea } from '../../../../views/ui/form/textarea.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { FilterChips } from '../../../../views/ui/tabs.tsx'
import type { MailContent } from '../../../engines/gate/sign-in/mail-templates/contents.ts'
import type { TenantMail } from '../../../engines/gate/sign-in/mail-templates/tenant-mails.ts'
import { isMailKind, type MailKind } from '../../../engines/gate/sign-in/mail-templates/texts.ts'
import { LANGUAGES, type Language } from '../../../engines/gate/sign-in/model.ts'
import type { Fields } from '../../../http/body.ts'
import { fail, notFound } from '../../../platform/errors.ts'
import { trimmedText } from '../../form.ts'
import { good, type PageContext, page, usePage } from '../../page.tsx'
import { LANGUAGE_NAMES, MAIL_NAMES, PLACEHOLDER_MEANINGS } from './mail-names.ts'
import { belowBase, isPreview, previewed, SAMPLED_FORM, Samples } from './samples.tsx'

interface EmailView {
  text: TenantMail
  mail: MailContent
  sender: string
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
    return { text: stored, mail: { ...mail, look }, sender: look.senderName ?? outbox.senderName }
  },

  title: ({ text }) => MAIL_NAMES[text.kind].name,
  above: (_, { href }) => [{ label: 'Branding', href: href('/settings/branding') }],

  view({ text, mail, sender }) {
    const { may, href } = usePage()
    const { name, when } = MAIL_NAMES[text.kind]
    return (
      <>
        <PageHead title={name} state={{ sentence: when }} />
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
              <TextForm text={text} />
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
