import { FlowSample } from '../../../../views/branding/flow-sample.tsx'
import { MailSample } from '../../../../views/branding/mail-sample.tsx'
import { Button } from '../../../../views/ui/form/button.tsx'
import { ColorField } from '../../../../views/ui/form/color-field.tsx'
import { Field } from '../../../../views/ui/form/field.tsx'
import { FileField } from '../../../../views/ui/form/file-field.tsx'
import { FieldRow, PageForm } from '../../../../views/ui/form/form.tsx'
import { PageHead, Section } from '../../../../views/ui/section.tsx'
import { StatusShape } from '../../../../views/ui/status.tsx'
import { DataTable } from '../../../../views/ui/table.tsx'
import type { FlowPage } from '../../../engines/gate/sign-in/flows/pages.ts'
import type { MailContent } from '../../../engines/gate/sign-in/mail-templates/contents.ts'
import type { TenantMail } from '../../../engines/gate/sign-in/mail-templates/tenant-mails.ts'
import type { MailKind } from '../../../engines/gate/sign-in/mail-templates/texts.ts'
import type { Fields } from '../../../http/body.ts'
import { colorsOf, type Theme } from '../../../platform/branding/contrast.ts'
import {
  type BrandingInput,
  type BrandingSettings,
  LOGO_THEMES,
  type LogoTheme,
} from '../../../platform/branding/index.ts'
import { invalid } from '../../../platform/errors.ts'
import { trimmedText } from '../../form.ts'
import { good, page, usePage } from '../../page.tsx'
import { isPreview } from '../form-preview.tsx'
import { samplePage } from './branding-sample.ts'
import { LANGUAGE_NAMES, MAIL_NAMES } from './mail-names.ts'
import { belowBase, previewed, SAMPLED_FORM, Samples } from './samples.tsx'
import { SettingsTabs } from './settings-tabs.tsx'

/** The accent color of pages without branding. */
const DEFAULT_ACCENT = '#2f6f5e'

interface BrandingView {
  stored: BrandingSettings
  /** As in the form, for the samples. */
  shown: BrandingSettings
  tenantName: string
  sender: string
  mails: TenantMail[]
  samples: Record<Theme, FlowPage>
  mail: MailContent
}

/** How sign-in pages and emails of a tenant look. */
export const brandingPage = page({
  path: '/settings/branding',
  section: 'settings',
  right: 'read',
  title: 'Branding',

  load(context): BrandingView {
    const { branding, gate, tenants, tenantId, layout, submission, mail: outbox } = context
    const unsaved = previewed(submission)
    const input = unsaved ? inputIn(unsaved) : {}
    const stored = belowBase(branding.of(tenantId), layout.base())
    const shown = belowBase(branding.preview(tenantId, input), layout.base())
    const tenantName = tenants.nameOf(tenantId)
    const sample = (theme: Theme) =>
      samplePage(context, { theme, branding: shown, name: shown.displayName ?? tenantName })
    const mail = gate.tenantMails.preview(tenantId, 'verification', 'en', { branding: input })
    return {
      stored,
      shown,
      tenantName,
      sender: shown.senderName ?? outbox.senderName,
      mails: gate.tenantMails.list({ tenantId }),
      samples: { light: sample('light'), dark: sample('dark') },
      mail: { ...mail, look: shown },
    }
  },

  view(view) {
    const { may } = usePage()
    return (
      <>
        <PageHead
          title="Branding"
          state={{ sentence: 'What your users see on sign-in pages and in emails' }}
        />
        <SettingsTabs current="branding" />
        <div class="withsample">
          <div>
            {may('settings') ? (
              <>
                <Look {...view} />
                <Logos {...view.stored} />
              </>
            ) : (
              <p class="hint">Only owners can change the branding.</p>
            )}
            <Mails mails={view.mails} />
          </div>
          <Samples accent={view.shown.accent}>
            <Contrasts accent={view.shown.accent} />
            <h3>Sign-in page, light mode</h3>
            <FlowSample page={view.samples.light} theme="light" />
            <h3>Sign-in page, dark mode</h3>
            <FlowSample page={view.samples.dark} theme="dark" />
            <h3>Email</h3>
            <MailSample mail={view.mail} sender={view.sender} theme="light" />
          </Samples>
        </div>
      </>
    )
  },

  actions: {
    '': {
      right: 'settings',
      form: {
        display_name: 'display_name',
        accent_color: 'accent_color',
        support_url: 'support_url',
        terms_url: 'terms_url',
        privacy_url: 'privacy_url',
        sender_name: 'sender_name',
      },
      flash: good('Branding saved.'),
      async run({ branding, actor, tenantId, fields }) {
        const input = inputIn(fields)
        if (isPreview(fields)) {
          branding.preview(tenantId, input)
          return { again: true }
        }
        await branding.change(actor, tenantId, input)
      },
    },
    logos: {
      right: 'settings',
      form: { light: 'light', dark: 'dark' },
      flash: good('Logo saved.'),
      async run({ branding, actor, tenantId, fields }) {
        const { light, dark } = fields
        if (!(light instanceof Uint8Array || dark instanceof Uint8Array))
          throw invalid('must be chosen', { field: 'light', rule: 'required' })
        await branding.setLogos(actor, tenantId, {
          ...(light instanceof Uint8Array && { light }),
          ...(dark instanceof Uint8Array && { dark }),
        })
      },
    },
    'logos/delete': {
      right: 'settings',
      flash: good('Logo deleted.'),
      async run({ branding, actor, tenantId, fields }) {
        const theme = LOGO_THEMES.find((known) => known === trimmedText(fields, 'theme'))
        if (!theme) throw invalid('must be light or dark', { field: 'theme', rule: 'choice' })
        await branding.setLogos(actor, tenantId, { [theme]: null })
      },
    },
  },
})

const inputIn = (fields: Fields): BrandingInput => ({
  display_name: trimmedText(fields, 'display_name'),
  accent_color: trimmedText(fields, 'accent_color'),
  support_url: supportIn(trimmedText(fields, 'support_url')),
  terms_url: trimmedText(fields, 'terms_url'),
  privacy_url: trimmedText(fields, 'privacy_url'),
  sender_name: trimmedText(fields, 'sender_name'),
})

/** A person types an email address without `mailto:`. */
const supportIn = (text: string): string =>
  /^[^\s:/@]+@[^\s:/@]+$/.test(text) ? `mailto:${text}` : text

const Look = ({ stored, tenantName, sender }: BrandingView) => (
  <Section id="look" title="Name, color and links">
    <PageForm
      action=""
      id={SAMPLED_FORM}
      buttons={
        <>
          <Button weight="primary">Save branding</Button>
          <noscript>
            <Button name="intent" value="preview">
              Preview
            </Button>
          </noscript>
        </>
      }
    >
      <Field
        name="display_name"
        label="Name"
        value={stored.displayName ?? ''}
        placeholder={tenantName}
        help="Users see it on sign-in pages, in emails, messenger prompts and authenticator apps."
      />
      <ColorField
        name="accent_color"
        label="Accent color"
        value={stored.accent ?? ''}
        fallback={DEFAULT_ACCENT}
        help="The color of buttons. Links use it too, made darker or lighter where it could not be read."
      />
      <Field
        name="support_url"
        label="Support link"
        value={stored.supportUrl?.replace(/^mailto:/, '') ?? ''}
        placeholder="https://example.com/help"
        help="A web page or an email address."
      />
      <FieldRow>
        <Field
          name="terms_url"
          label="Terms of service"
          value={stored.termsUrl ?? ''}
          placeholder="https://example.com/terms"
        />
        <Field
          name="privacy_url"
          label="Privacy policy"
          value={stored.privacyUrl ?? ''}
          placeholder="https://example.com/privacy"
        />
      </FieldRow>
      <Field
        name="sender_name"
        label="Sender of emails"
        value={stored.senderName ?? ''}
        placeholder={sender}
        help="The address is the one of the installation."
      />
    </PageForm>
  </Section>
)

const THEME_NAMES: Record<LogoTheme, string> = {
  light: 'Logo for light pages',
  dark: 'Logo for dark pages',
}

const Logos = ({ logos }: BrandingSettings) => {
  const { actionHref } = usePage()
  return (
    <Section id="logos" title="Logo">
      <PageForm
        action="logos"
        anchor="logos"
        isUpload
        buttons={
          <>
            <Button weight="primary">Upload logo</Button>
            {LOGO_THEMES.filter((theme) => logos[theme]).map((theme) => (
              <Button
                weight="danger"
                action={actionHref('logos/delete')}
                name="theme"
                value={theme}
              >
                Delete {THEME_NAMES[theme].toLowerCase()}
              </Button>
            ))}
          </>
        }
      >
        <div class="logos">
          {LOGO_THEMES.map((theme) => (
            <LogoField theme={theme} logos={logos} />
          ))}
        </div>
        <p class="hint">
          PNG, JPEG or WebP, at most 256 KB, 16 to 2048 pixels wide and high. PNG works in all mail
          programs. SVG can contain scripts: export it as PNG.
        </p>
      </PageForm>
    </Section>
  )
}

const LogoField = ({ theme, logos }: { theme: LogoTheme; logos: BrandingSettings['logos'] }) => {
  const logo = logos[theme]
  return (
    <div>
      <div class={`logobox ${theme}`}>
        {logo ? (
          <img src={logo.path} width={logo.width} height={logo.height} alt={THEME_NAMES[theme]} />
        ) : (
          <span>{theme === 'dark' && logos.light ? 'Light logo on white' : 'First letter'}</span>
        )}
      </div>
      <FileField
        name={theme}
        label={THEME_NAMES[theme]}
        accept="image/png,image/jpeg,image/webp"
        isRequired={theme === 'light' ? undefined : false}
      />
    </div>
  )
}

/** What became of the accent color, so that it can be read everywhere. */
const Contrasts = ({ accent }: { accent: string | null }) => {
  const colors = colorsOf(accent ?? DEFAULT_ACCENT)
  if (accent === null) return <p class="hint">The default colors can be read in both modes.</p>
  const { fill, onFill, onFillContrast } = colors
  return (
    <ul class="contrasts" aria-live="polite">
      <li>
        <StatusShape tone="good" />
        <span>
          Buttons: {onFill === '#000000' ? 'black' : 'white'} text on {fill} (
          {ratio(onFillContrast)})
        </span>
      </li>
      <LinkContrast accent={accent} theme="light" />
      <LinkContrast accent={accent} theme="dark" />
    </ul>
  )
}

const LinkContrast = ({ accent, theme }: { accent: string; theme: Theme }) => {
  const { text, contrast, textContrast } = colorsOf(accent)[theme]
  const isKept = text === accent
  const mode = `${theme} mode`
  return (
    <li>
      <StatusShape tone={isKept ? 'good' : 'warn'} />
      <span>
        {isKept
          ? `Links in ${mode}: ${accent} (${ratio(contrast)})`
          : `Links in ${mode}: ${theme === 'light' ? 'darkened' : 'lightened'} to ${text} (${ratio(textContrast)}), because ${accent} has only ${ratio(contrast)} there and needs 4.5:1`}
      </span>
    </li>
  )
}

/** Rounded down, so that it never looks like enough when it is not. */
const ratio = (contrast: number): string => `${(Math.floor(contrast * 10) / 10).toFixed(1)}:1`

function Mails({ mails }: { mails: readonly TenantMail[] }) {
  const { href } = usePage()
  const kinds = Object.keys(MAIL_NAMES) as MailKind[]
  return (
    <Section id="emails" title="Emails" note="Change the subject and introduction of each email.">
      <DataTable
        caption="Emails"
        rows={kinds}
        hrefOf={(kind) => href(`/settings/branding/emails/${kind}`)}
        columns={[
          {
            label: 'Email',
            cell: (kind) => (
              <>
                {MAIL_NAMES[kind].name}
                <span class="hint">{MAIL_NAMES[kind].when}</span>
              </>
            ),
          },
          { label: 'Text', cell: (kind) => customized(mails.filter((mail) => mail.kind === kind)) },
        ]}
      />
    </Section>
  )
}

/** The languages in which a text is the tenant's own. */
const customized = (mails: readonly TenantMail[]): string =>
  mails
    .filter(({ subject, intro }) => subject !== null || intro !== null)
    .map(({ language }) => LANGUAGE_NAMES[language])
    .join(', ') || 'Default'
