import type { Policies } from '../../../../../src/engines/gate/settings/model.ts'
import { CodeBlock } from '../../../code-block.tsx'
import { Confirm, DangerZone } from '../../../confirm.tsx'
import { PageHead } from '../../../page-head.tsx'
import { Section } from '../../../section.tsx'
import { Time } from '../../../time.tsx'
import { url } from '../../../url.ts'
import { Editor, type Problem } from './editor.tsx'
import { type Saved, Versions } from './history.tsx'
import { POLICIES } from './state.ts'
import { type Evaluation, TryIt } from './try-it.tsx'
import { Views } from './views.tsx'

interface PoliciesView {
  base: string
  now: number
  policies: Policies
  starterSet: string
  mayChange: boolean
  evaluation: Evaluation
  /** Latest changes. */
  saved: readonly Saved[]
  /** Names of operators by ID. */
  names: ReadonlyMap<string, string>
  input?: string
  problems?: readonly Problem[]
}

/** Policies of a tenant: editor, trial and history. */
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
        <Section id="starter" title="Starter set">
          <details class="fold">
            <summary>View the policies of a new tenant</summary>
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
      {isStarterSet ? 'The starter set is active' : `Version ${version} is active`}
      {at === null ? (
        ''
      ) : (
        <>
          , saved <Time at={Date.parse(at)} now={now} />
        </>
      )}
    </>
  )
}

const WayBack = ({ base }: { base: string }) => (
  <DangerZone
    items={[
      {
        title: 'Restore starter set',
        text: 'Replaces the policies above, which are not kept.',
        control: (
          <Confirm
            id="starter-set"
            verb="Restore starter set"
            question="Restore the starter set?"
            consequence="Your policies are deleted. Copy them first if you might need them again."
            action={url(base, `${POLICIES}/starter`)}
          />
        ),
      },
    ]}
  />
)
