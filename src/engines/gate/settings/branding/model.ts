import { Type } from '@sinclair/typebox'
import { t } from 'elysia'
import { lenient, OptionalTimestamp, oneOf } from '../../../../http/schemas.ts'
import { IMAGE_TYPES } from '../../../../platform/branding/image.ts'
import { MAIL_KINDS } from '../../sign-in/mail-templates/texts.ts'
import { LANGUAGES } from '../../sign-in/model.ts'

const text = (expected: string, description: string, example: string) =>
  t.Nullable(t.String({ expected }), {
    expected: `${expected}, or null`,
    description,
    examples: [example],
  })

const fields = {
  display_name: text(
    'a name',
    'The name on sign-in pages, in emails, messenger prompts and authenticator apps; null for the name of the tenant.',
    'Acme',
  ),
  accent_color: text(
    'a color such as #2f6f5e',
    'The color of buttons, links and focus rings; null for the default.',
    '#2f6f5e',
  ),
  support_url: text(
    'an https or mailto URL',
    'Shown below sign-in pages and emails.',
    'https://example.com/help',
  ),
  terms_url: text('an https URL', 'Shown like support_url.', 'https://example.com/terms'),
  privacy_url: text('an https URL', 'Shown like support_url.', 'https://example.com/privacy'),
  sender_name: text(
    'a name',
    'The name of the sender of emails. The address is the one of the installation.',
    'Acme Accounts',
  ),
}

const Logo = t.Nullable(
  t.Object({
    url: t.String(),
    type: oneOf(IMAGE_TYPES),
    width: Type.Integer({ description: 'In pixels.' }),
    height: Type.Integer(),
  }),
)

export const BrandingView = t.Object({
  ...fields,
  colors: t.Nullable(
    t.Object({
      button: t.String(),
      button_text: t.String({ description: 'Black or white, whichever can be read.' }),
      light_text: t.String({ description: 'Of links on light pages: darker if necessary.' }),
      dark_text: t.String({ description: 'Of links on dark pages: lighter if necessary.' }),
    }),
    {
      description:
        'The colors that follow from accent_color, each with a contrast of at least 4.5.',
    },
  ),
  logos: t.Object({ light: Logo, dark: Logo }),
  updated_at: OptionalTimestamp,
})
export type BrandingView = typeof BrandingView.static

const optional = <K extends keyof typeof fields>(name: K) => t.Optional(fields[name])
export const BrandingChange = lenient(
  {
    display_name: optional('display_name'),
    accent_color: optional('accent_color'),
    support_url: optional('support_url'),
    terms_url: optional('terms_url'),
    privacy_url: optional('privacy_url'),
    sender_name: optional('sender_name'),
  },
  { examples: [{ display_name: 'Acme', accent_color: '#2f6f5e' }] },
)

const EXAMPLE_IMAGE =
  'iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFUlEQVR4nGNIIBEwjGoYDaWEYZs0ABznIBDXPPkzAAAAAElFTkSuQmCC'

const image = (theme: string) =>
  t.Optional(
    t.Nullable(t.String({ expected: 'an image in base64' }), {
      expected: 'an image in base64, or null',
      description: `For ${theme} pages. A PNG, JPEG or WebP image in base64: at most 256 KB, 16 to 2048 pixels wide and high.`,
      examples: [EXAMPLE_IMAGE],
    }),
  )
export const LogoChange = lenient(
  { light: image('light'), dark: image('dark') },
  { examples: [{ light: EXAMPLE_IMAGE }] },
)
export type LogoChange = typeof LogoChange.static

const MailKindName = oneOf(Object.keys(MAIL_KINDS) as (keyof typeof MAIL_KINDS)[])

const EmailText = t.Object({
  kind: MailKindName,
  language: oneOf(LANGUAGES),
  subject: t.Nullable(t.String(), { description: 'Null for the default subject.' }),
  intro: t.Nullable(t.String(), { description: 'Null for the default introduction.' }),
  default_subject: t.String(),
  default_intro: t.String(),
  placeholders: t.Array(t.String(), {
    description:
      'Allowed in the introduction, such as {{name}}. A subject can contain {{name}} only.',
  }),
})
export type EmailText = typeof EmailText.static
export const EmailTexts = t.Object({ emails: t.Array(EmailText) })

const EmailTextChange = lenient({
  kind: MailKindName,
  language: oneOf(LANGUAGES),
  subject: t.Optional(
    text('a subject', 'At most 150 characters; null for the default.', 'Welcome to {{name}}'),
  ),
  intro: t.Optional(
    text(
      'an introduction',
      'Plain text of at most 1,000 characters and 5 paragraphs, with empty lines between them; null for the default.',
      'Enter this code to continue.',
    ),
  ),
})

export const EmailTextsChange = lenient({
  emails: t.Array(EmailTextChange, { minItems: 1, expected: 'a list of at least 1 email' }),
})
export type EmailTextChange = typeof EmailTextChange.static
