import type { Node, NodeGroup } from '../../src/engines/gate/sign-in/model.ts'
import { FormOf } from './form.tsx'
import type { Form } from './forms.ts'
import type { Section, Words } from './words.ts'

/** The order of the sections. Forms that belong to none come first. */
const SECTIONS: readonly Section[] = ['profile', 'password', 'oidc', 'totp', 'lookup_secret']

interface Parts {
  forms: Form[]
  action: string
  words: Words
  account?: string
  focused?: Node
}

/** The sections of the settings page, each with its forms. */
export const Settings = ({ forms, ...parts }: Parts) => (
  <>
    {forms
      .filter(({ group }) => !isSection(group))
      .map((form) => (
        <FormOf form={form} {...parts} />
      ))}
    {SECTIONS.map((name) => {
      const own = forms.filter(({ group }) => group === name)
      return own.length > 0 && <SectionOf name={name} forms={own} {...parts} />
    })}
  </>
)

const isSection = (group: NodeGroup) => SECTIONS.some((name) => name === group)

const SectionOf = ({ name, forms, ...parts }: Parts & { name: Section }) => (
  <section aria-labelledby={`section-${name}`}>
    <div class="about">
      <h2 id={`section-${name}`}>{parts.words.sections[name].heading}</h2>
      <p>{textOf(name, forms, parts.words)}</p>
    </div>
    <div class="change">
      {forms.map((form) => (
        <FormOf form={form} {...parts} />
      ))}
    </div>
  </section>
)

function textOf(name: Section, forms: Form[], words: Words): string {
  const has = (button: string) =>
    forms.some(({ buttons }) => buttons.some(({ attributes }) => attributes.name === button))
  if (has('totp_unlink')) return words.totpInUse
  if (has('lookup_secret_disable')) return words.codesInUse
  return words.sections[name].text
}
