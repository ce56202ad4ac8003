import type { Db } from '../../../../db/open.ts'
import type { Audit } from '../../../../platform/audit/index.ts'
import type { Branding, BrandingInput } from '../../../../platform/branding/index.ts'
import type { Caller } from '../../../../platform/caller.ts'
import type { Clock } from '../../../../platform/clock.ts'
import { HOUR_MS } from '../../../../platform/durations.ts'
import { AppError, rateLimited, renamed } from '../../../../platform/errors.ts'
import { type Mail, oneLine, tidied } from '../../../../platform/mail/index.ts'
import type { Store } from '../../store.ts'
import { LANGUAGES, type Language } from '../model.ts'
import type { MailContent, MailStyle } from './contents.ts'
import { createMailTemplates, written } from './index.ts'
import { defaultText, sampleOf } from './samples.ts'
import {
  checkedMailText,
  MAIL_KINDS,
  type MailKind,
  type MailText,
  type Placeholder,
} from './texts.ts'

/** The text of an email: the tenant's own, or null, and the default. */
export interface TenantMail extends MailText {
  kind: MailKind
  language: Language
  defaultSubject: string
  defaultIntro: string
  placeholders: readonly Placeholder[]
}

/** A text to be stored; null for the default. */
type NewText = Pick<TenantMail, 'kind' | 'language' | 'subject' | 'intro'>

/** Counted separately from the emails of flows. */
const TEST = 'test'

export type TenantMails = ReturnType<typeof createTenantMails>

/** The emails of each tenant, with its branding and its own subjects and introductions. */
export function createTenantMails(parts: {
  db: Db
  clock: Clock
  audit: Audit
  branding: Branding
  mail: Pick<Mail, 'allowance' | 'post'>
  store: Store
}) {
  const { db, clock, audit, branding, mail, store } = parts

  /** The templates of a tenant, which read its texts when they write. */
  const templatesFor = (tenantId: string, language: Language) =>
    createMailTemplates(language, styleOf(tenantId, language))

  function styleOf(tenantId: string, language: Language): MailStyle {
    const texts = store.mailTexts.all(tenantId)
    return {
      branding: branding.of(tenantId),
      textOf: (kind) => texts.find((text) => text.mail === kind && text.language === language),
    }
  }

  /** Every email in every language. */
  const list = ({ tenantId }: Pick<Caller, 'tenantId'>): TenantMail[] => {
    const texts = store.mailTexts.all(tenantId)
    return (Object.keys(MAIL_KINDS) as MailKind[]).flatMap((kind) =>
      LANGUAGES.map((language) => {
        const own = texts.find((text) => text.mail === kind && text.language === language)
        return presented(kind, language, own)
      }),
    )
  }

  const find = (tenant: Pick<Caller, 'tenantId'>, kind: MailKind, language: Language) =>
    list(tenant).find((mail) => mail.kind === kind && mail.language === language) as TenantMail

  /** Replaces the texts of an email; null restores the default. Throws `invalid` with all problems. */
  const change = (caller: Caller, text: NewText) => save(caller, [checkedText(text)])

  /** The same for several emails: all or none. Fields of errors are such as `emails.0.subject`. */
  const changeAll = (caller: Caller, texts: readonly NewText[]) =>
    save(
      caller,
      texts.map((text, index) => within(`emails.${index}`, () => checkedText(text))),
    )

  const save = ({ tenantId, actor }: Caller, texts: readonly NewText[]) =>
    db.commitFor(tenantId, () => {
      for (const { kind, language, subject, intro } of texts) {
        const key = { tenantId, mail: kind, language }
        if (subject === null && intro === null) store.mailTexts.remove(key)
        else store.mailTexts.put({ ...key, subject, intro, updatedAt: clock.now() })
        audit.record({
          tenantId,
          actor,
          action: 'branding.email_changed',
          object: `tenant:${tenantId}`,
          detail: { email: kind, language, subject, intro },
        })
      }
    })

  /**
   * An email with sample values, as a tenant's users would get it. `unsaved` texts and settings take
   * the place of those that are stored; they are checked like these.
   */
  function preview(
    tenantId: string,
    kind: MailKind,
    language: Language,
    unsaved: { text?: MailText; branding?: BrandingInput } = {},
  ): MailContent {
    const style = styleOf(tenantId, language)
    const text = unsaved.text && checkedMailText(kind, unsaved.text)
    const look = branding.preview(tenantId, unsaved.branding ?? {})
    const tenantName = look.displayName ?? branding.nameOf(tenantId)
    const textOf = text ? () => text : style.textOf
    const sample = { tenantName, branding: look, ...(textOf && { textOf }) }
    const { subject, ...content } = sampleOf(kind, language, sample)
    return { ...tidied(content), subject: oneLine(subject) }
  }

  /**
   * Sends an email with its saved text and sample values. The recipient must be a verified address of
   * the operator who asks. Throws `rate_limited` after too many.
   */
  const sendTest = (
    { tenantId, actor }: Caller,
    { kind, language, recipient }: { kind: MailKind; language: Language; recipient: string },
  ) =>
    db.commitFor(tenantId, () => {
      const now = clock.now()
      const allowance = mail.allowance(tenantId, recipient, now, TEST)
      if (!allowance.allowed)
        throw rateLimited('too many test emails; try again later', {
          retryAfterMs: allowance.retryAfterMs,
        })
      const style = { tenantName: branding.nameOf(tenantId), ...styleOf(tenantId, language) }
      const sample = sampleOf(kind, language, style)
      const content = written({ ...sample, subject: `[Test] ${sample.subject}` })
      const to = { tenantId, about: actor.id ?? null, recipient, expiresAt: now + HOUR_MS }
      mail.post({ ...to, kind: TEST, ...content }, now)
      audit.record({
        tenantId,
        actor,
        action: 'branding.email_tested',
        object: `tenant:${tenantId}`,
        detail: { email: kind, language },
      })
    })

  return { templatesFor, list, find, change, changeAll, preview, sendTest }
}

const checkedText = ({ kind, language, ...text }: NewText): NewText => ({
  kind,
  language,
  ...checkedMailText(kind, text),
})

/** Adds the position in a list to the fields of errors. */
function within<T>(position: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw error instanceof AppError ? renamed(error, (field) => `${position}.${field}`) : error
  }
}

function presented(kind: MailKind, language: Language, own: MailText | undefined): TenantMail {
  const { subject, intro } = defaultText(kind, language)
  return {
    kind,
    language,
    subject: own?.subject ?? null,
    intro: own?.intro ?? null,
    defaultSubject: subject,
    defaultIntro: intro,
    placeholders: MAIL_KINDS[kind],
  }
}
