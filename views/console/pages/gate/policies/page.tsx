import type { Policies } from '../../../../../src/engines/gate/model/settings.ts'
import { CodeBlock } from '../../../code-block.tsx'
import { Confirm, DangerZone } from '../../../confirm.tsx'
import { PageHead } from '../../../page-head.tsx'
import { Section } from '../../../section.tsx'
import { Time } from '../../../time.tsx'
import { url } from '../../../url.ts'
import { Editor, type Problem } from './editor.tsx'
import { type Saved, Versions } from './history.tsx'
import { POLICIES } from './state.ts'
import { type Trial, TryIt } from './try-it.tsx'
import { Views } from './views.tsx'

export interface PoliciesView {
  base: string
  now: number
  policies: Policies
  starterSet: string
  mayChange: boolean
  trial: Trial
  /** Who has saved them of late. */
  saved: readonly Saved[]
  /** Of operators, by their id. */
  names: ReadonlyMap<string, string>
  typed?: string
  problems?: readonly Problem[]
}

/** By what questions are answered. */
export const PoliciesPage = (page: PoliciesView) => {
  const { base, now, policies, mayChange } = page
  return (
    <>
      <PageHead title="Policies" state={{ sentence: <InForce policies={policies} now={now} /> }} />
      <Views base={base} current="policies" />
      {mayChange ? <Editor {...page} /> : <CodeBlock title="Cedar">{policies.policies}</CodeBlock>}
      <TryIt {...page} />
      <Versions {...page} />
      {!policies.is_starter_set && (
        <Section id="starter" title="The starter set">
          <details class="fold">
            <summary>What a tenant begins with</summary>
            <CodeBlock title="Cedar">{page.starterSet}</CodeBlock>
          </details>
        </Section>
      )}
      {mayChange && !policies.is_starter_set && <WayBack base={base} />}
    </>
  )
}

const InForce = ({ policies, now }: { policies: Policies; now: number }) => {
  const { is_starter_set: isStarterSet, version, updated_at: at } = policies
  return (
    <>
      {isStarterSet ? 'The starter set is in force' : `Version ${version} is in force`}
      {at === null ? (
        ', as it comes.'
      ) : (
        <>
          , saved <Time at={Date.parse(at)} now={now} />.
        </>
      )}
    </>
  )
}

const WayBack = ({ base }: { base: string }) => (
  <DangerZone
    items={[
      {
        title: 'Go back to the starter set',
        text: 'It takes the place of the policies above, which nobody keeps.',
        control: (
          <Confirm
            id="starter-set"
            verb="Take starter set"
            question="Go back to the starter set?"
            consequence="Copy your policies first if you may want them again."
            action={url(base, `${POLICIES}/starter`)}
          />
        ),
      },
    ]}
  />
)
