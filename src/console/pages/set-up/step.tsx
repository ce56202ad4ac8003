import type { ComponentChildren } from 'preact'
import { PlainLayout } from '../../../../views/layout/plain-layout.tsx'
import { themeOf } from '../../layout.ts'
import { usePage } from '../../page.tsx'

/** Steps of the set-up. */
export const SET_UP_STEPS = ['Account and tenant', 'API key', 'First job']

/** A page of the set-up, after the account exists. */
export function SetUpStep(step: {
  at: number
  title: string
  intro: string
  isWide?: boolean
  isLive?: boolean
  children: ComponentChildren
}) {
  const { at, title, children, ...of } = step
  const { layout, request, liveSource } = usePage()
  return (
    <PlainLayout
      base={layout.base()}
      theme={themeOf(request)}
      windowTitle={title}
      title={title}
      steps={{ at, names: SET_UP_STEPS }}
      {...of}
    >
      {liveSource}
      {children}
    </PlainLayout>
  )
}
