import type { ComponentChildren } from 'preact'
import { typescriptFor } from '../../../../views/snippets/index.ts'
import { CodeBlock, CurlBlock, type CurlRequest } from '../../../../views/ui/code.tsx'
import { ActionButton, LinkButton } from '../../../../views/ui/form/button.tsx'
import { ItWorks } from '../../../../views/ui/guide.tsx'
import { SecretPanel } from '../../../../views/ui/secret-panel.tsx'
import { PageHead, Section } from '../../../../views/ui/section.tsx'
import type { NewKey } from '../../../platform/keys/index.ts'
import { type Action, type PageContext, usePage } from '../../page.tsx'
import { nextGoalAfter } from './first-results.ts'
import { GOAL_WORDS, type Goal, guideOf } from './goal-words.ts'

/** The part of a guide's data that all guides have. */
export interface GuideData {
  /** The goal to continue with; undefined for the overview. */
  next: Goal | undefined
  /** A key that was just created, which is shown only once. */
  newKey: string | undefined
}

export const guideData = (context: PageContext, goal: Goal): GuideData => ({
  next: nextGoalAfter(context, goal),
  newKey: context.result as string | undefined,
})

/** Pages above a guide. */
export const aboveGuides = (_: unknown, { href }: PageContext) => [
  { label: 'Get started', href: href('/get-started') },
]

/** ID of the part of a guide that updates while the page is open. */
export const PROGRESS = 'guide-progress'

/** A guide: its steps, which update, and the code that does the same. */
export function Guide(guide: {
  goal: Goal
  sentence: ComponentChildren
  /** The steps. */
  children: ComponentChildren
  code: ComponentChildren
}) {
  const { href, may } = usePage()
  return (
    <>
      <PageHead
        title={GOAL_WORDS[guide.goal].firstResult}
        state={{ sentence: guide.sentence }}
        aside={<LinkButton href={href('')}>Go to the overview</LinkButton>}
      />
      {!may('change') && (
        <p class="hint">You can read this guide. Only owners and members can follow it.</p>
      )}
      <section class="card" aria-label="Steps">
        <div id={PROGRESS} aria-live="polite">
          {guide.children}
        </div>
        <noscript>
          <p>
            <a href={href(guideOf(guide.goal))}>Refresh</a>
          </p>
        </noscript>
      </section>
      {guide.code}
    </>
  )
}

/** The end of a guide, with the goal that follows. */
export function Result({
  next,
  children,
  more,
}: Pick<GuideData, 'next'> & { children: ComponentChildren; more?: ComponentChildren }) {
  const { href } = usePage()
  return (
    <ItWorks
      next={
        <>
          {next ? (
            <LinkButton weight="primary" href={href(guideOf(next))}>
              Next: {GOAL_WORDS[next].title}
            </LinkButton>
          ) : (
            <LinkButton weight="primary" href={href('')}>
              Go to the overview
            </LinkButton>
          )}
          {more}
        </>
      }
    >
      {children}
    </ItWorks>
  )
}

/** A shell variable, as long as there is no key to show. */
const VARIABLE = '$GATEHOUSE_KEY'

/** Code for the API, with a button that creates a key for it. */
export function GuideCode(code: {
  goal: Goal
  newKey: string | undefined
  requests: (key: string) => readonly (CurlRequest & { title: string })[]
  note: ComponentChildren
}) {
  const { href, may, actionHref, request, baseUrl } = usePage()
  const { newKey } = code
  const blocks = (
    <>
      {code.requests(newKey ?? VARIABLE).map((request) => (
        <CurlBlock {...request} />
      ))}
      <CodeBlock title="TypeScript">{typescriptFor(code.goal, baseUrl())}</CodeBlock>
    </>
  )
  if (newKey !== undefined)
    return (
      <div class="section">
        <SecretPanel
          title="Your API key"
          what="key"
          secret={newKey}
          example={blocks}
          doneHref={href(guideOf(code.goal))}
        />
      </div>
    )
  return (
    <Section
      id="code"
      title="Do the same from your app"
      note={code.note}
      aside={
        may('keys') && (
          <ActionButton action={actionHref('key') + new URL(request.url).search} isSmall>
            Create API key
          </ActionButton>
        )
      }
    >
      <div class="stack">{blocks}</div>
      {!may('keys') && (
        <p class="hint">Ask an owner of the tenant for an API key, as GATEHOUSE_KEY.</p>
      )}
    </Section>
  )
}

/** Creates a key for a guide's code and shows it on the guide. */
export const createsKey = <Path extends string>(
  wanted: Omit<NewKey, 'tenantId'>,
): Action<Path> => ({
  right: 'keys',
  async run({ keys, tenantId, actor }) {
    const { key } = await keys.issue(actor, { tenantId, name: 'Get started', ...wanted })
    return { again: true, result: key }
  },
})

/** Headers of a JSON request with a key. */
export const jsonWith = (key: string) => ({
  Authorization: `Bearer ${key}`,
  'Content-Type': 'application/json',
})
