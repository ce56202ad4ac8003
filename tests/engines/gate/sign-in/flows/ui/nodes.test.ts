import { expect, test } from 'bun:test'
import * as ui from '../../../../../../src/engines/gate/sign-in/flows/ui/index.ts'
import type { Node } from '../../../../../../src/engines/gate/sign-in/model.ts'

const say = ui.createSay('en')
const EMAIL = 'a@b.c'

/** A node in one line: group, type, name=value, label, and its other attributes. */
function written({ type, group, attributes, meta }: Node): string {
  if (attributes.node_type !== 'input')
    return `${group} ${type} ${attributes.name} ${meta.label.id}`
  const { node_type: _, disabled, name, type: inputType, value, ...others } = attributes
  expect(disabled).toBe(false)
  const rest = Object.entries(others).map(([key, other]) =>
    other === true ? key : `${key}=${other}`,
  )
  const nameAndValue = value === '' ? name : `${name}=${value}`
  return [group, inputType, nameAndValue, meta.label.id, ...rest.sort()].join(' ')
}

const FORMS: ((say: ui.Say) => Node[])[] = [
  () => [ui.csrfNode('t')],
  (say) => [ui.identifierNode(say), ui.identifierNode(say, { value: EMAIL, isHidden: true })],
  (say) => ui.passwordLogin(say, { isRefresh: false }),
  (say) => ui.passwordLogin(say, { isRefresh: true }),
  ui.codeLogin,
  (say) => ui.codeLoginSent(say, { identifier: EMAIL }),
  (say) => ui.socialButtons(say, 'login', ['github', 'google']),
  (say) => ui.socialButtons(say, 'login', []),
  ui.totpLogin,
  ui.lookupLogin,
  (say) => [ui.emailTrait(say), ui.emailTrait(say, { value: EMAIL })],
  ui.passwordRegistration,
  ui.codeRegistration,
  (say) => ui.codeRegistrationSent(say, { email: EMAIL }),
  (say) => ui.socialButtons(say, 'registration', ['apple']),
  (say) => ui.recoveryStart(say, { email: EMAIL }),
  (say) => ui.recoveryCodeSent(say, { email: EMAIL, code: '000042' }),
  (say) => ui.verificationStart(say),
  (say) => ui.verificationCodeSent(say, { email: EMAIL, code: '000042' }),
  (say) => ui.verificationDone(say, { continueTo: 'https://a.example/' }),
  (say) => ui.verificationDone(say),
  (say) => ui.profileSettings(say, { email: EMAIL }),
  ui.passwordSettings,
  (say) => ui.socialSettings(say, { unlinked: ['github', 'apple'], removable: ['slack'] }),
  (say) => ui.totpSetup(say, { qr: 'data:image/png;base64,', secret: 'JBSWY3DP' }),
  ui.totpSet,
  ui.lookupNone,
  ui.lookupSet,
  (say) => ui.lookupShown(say, { codes: ['abcd-1234'] }),
]

const WRITTEN = `
default hidden csrf_token=t 0 required
default text identifier 1070002 autocomplete=username required
default hidden identifier=a@b.c 1070002 required
password password password 1070001 autocomplete=current-password required
password submit method=password 1010022
password password password 1070001 autocomplete=current-password required
password submit method=password 1010001
code submit method=code 1010015
default hidden identifier=a@b.c 1070002 required
code text code 1070013 autocomplete=one-time-code required
code hidden method=code 0
code submit method=code 1070009
code submit resend=code 1070008
oidc submit provider=github 1010002
oidc submit provider=google 1010002
totp text totp_code 1010006 autocomplete=one-time-code required
totp submit method=totp 1010009
lookup_secret text lookup_secret 1010007 required
lookup_secret submit method=lookup_secret 1010010
default email traits.email 1070002 autocomplete=email required
default email traits.email=a@b.c 1070002 autocomplete=email required
password password password 1070001 autocomplete=new-password required
password submit method=password 1040001
code submit method=code 1040006
default hidden traits.email=a@b.c 1070002 required
code text code 1070012 autocomplete=one-time-code required
code hidden method=code 0
code submit method=code 1070009
code submit resend=code 1070008
oidc submit provider=apple 1040002
code email email=a@b.c 1070007 autocomplete=email required
code submit method=code 1070009
code text code=000042 1070010 autocomplete=one-time-code maxlength=6 pattern=[0-9]+ required
code hidden method=code 0
code submit method=code 1070009
code submit email=a@b.c 1070008
code email email 1070007 autocomplete=email required
code submit method=code 1070009
code text code=000042 1070011 autocomplete=one-time-code required
code hidden method=code 0
code submit method=code 1070009
code submit email=a@b.c 1070008
code a continue 1070009
profile email traits.email=a@b.c 1070002 autocomplete=email required
profile submit method=profile 1070003
password password password 1070001 autocomplete=new-password required
password submit method=password 1070003
oidc submit link=github 1050002
oidc submit link=apple 1050002
oidc submit unlink=slack 1050003
totp img totp_qr 1050005
totp text totp_secret_key 1050017
totp text totp_code 1070006 autocomplete=one-time-code required
totp submit method=totp 1070003
totp submit totp_unlink=true 1050004 required
lookup_secret submit lookup_secret_regenerate=true 1050008
lookup_secret submit lookup_secret_regenerate=true 1050008
lookup_secret submit lookup_secret_disable=true 1050016
lookup_secret text lookup_secret_codes 1050010
lookup_secret submit lookup_secret_confirm=true 1050011
`

const inEnglish = FORMS.flatMap((nodesIn) => nodesIn(say))
const inGerman = FORMS.flatMap((nodesIn) => nodesIn(ui.createSay('de')))

test('Forms have these nodes in this order; those in German have other labels', () => {
  expect(`\n${inEnglish.map(written).join('\n')}\n`).toBe(WRITTEN)
  expect(inGerman.map(written)).toEqual(inEnglish.map(written))
  for (const [index, { meta }] of inGerman.entries())
    if (meta.label.id !== 0) expect(meta.label.text).not.toBe(inEnglish[index]?.meta.label.text)
})

test('Pictures, texts and links have their content in their attributes', () => {
  const [qr, secret] = ['data:image/png;base64,iVBORw0KGgo=', 'JBSWY3DPEHPK3PXP']
  const [picture, key] = ui.totpSetup(say, { qr, secret })
  const size = { width: 256, height: 256 }
  expect(picture?.attributes).toMatchObject({ id: 'totp_qr', value: qr, src: qr, ...size })
  const text = { id: 1050006, text: secret, type: 'info', context: { secret } }
  expect(key?.attributes).toMatchObject({ id: 'totp_secret_key', value: secret, text })

  const codes = ['abcd-efgh', 'ijkl-mnop']
  const [node] = ui.lookupShown(say, { codes })
  const secrets = codes.map((secret) => say(1050009, { secret }))
  const all = { id: 1050015, text: codes.join(', '), type: 'info', context: { secrets } }
  expect(node?.attributes).toMatchObject({ value: codes.join(', '), text: all })

  const href = 'https://app.example.com/in?a=b'
  const [link] = ui.verificationDone(say, { continueTo: href })
  const title = { id: 1070009, text: 'Continue', type: 'info' }
  expect(link?.attributes).toMatchObject({ value: href, href, title })
  const [button] = ui.socialButtons(say, 'registration', ['github'])
  const context = { provider: 'GitHub', provider_id: 'github' }
  const label = { id: 1040002, type: 'info', text: 'Continue with GitHub', context }
  expect(button?.meta.label).toEqual(label as never)
})

const FORM = [ui.emailTrait(say, { value: 'anna' }), ...ui.passwordRegistration(say)]

test('A message is added to the field of that name, after others, in a copy', () => {
  const before = structuredClone(FORM)
  const once = ui.withMessage(FORM, 'password', say(4000031)) ?? []
  const twice = ui.withMessage(once, 'password', say(4000032, { min_length: 8 }))
  const ids = twice?.map(({ messages }) => messages.map(({ id }) => id as number))
  expect(ids).toEqual([[], [4000031, 4000032], []])
  expect(twice?.map(({ attributes }) => attributes)).toEqual(FORM.map((node) => node.attributes))
  expect(FORM).toEqual(before)
})

test.each([
  ['a field that the form lacks', FORM, 'code'],
  ['a field without a name', FORM, ''],
  ['the name of something inherited', FORM, 'constructor'],
  ['a link', ui.verificationDone(say, { continueTo: 'https://a.example/' }), 'continue'],
  ['a hidden field', ui.codeLoginSent(say, { identifier: EMAIL }), 'identifier'],
  ['a resend button', ui.recoveryCodeSent(say, { email: EMAIL }), 'email'],
  ['one of many buttons', ui.socialButtons(say, 'login', ['github', 'google']), 'provider'],
])('A message has no place at %s', (_, nodes, field) => {
  expect(ui.withMessage(nodes, field, say(4000002, { property: field }))).toBeUndefined()
})
