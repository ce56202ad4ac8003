import type { ComponentChildren } from 'preact'
import { ConsoleLayout } from '../../../../views/console/layout/console-layout.tsx'
import type { LayoutProps } from '../../../../views/console/layout/model.ts'

export const NOW = Date.UTC(2026, 10, 22, 9, 26, 30)
export const SECOND = 1000
export const MINUTE = 60_000
export const HOUR = 3_600_000
export const DAY = 86_400_000

/** What people may put anywhere that takes text. */
export const HOSTILE = {
  script: '<script>alert(1)</script>',
  turned: 'invoice\u202egpj.exe مرحبا',
  long: 'wideandunbroken'.repeat(667).slice(0, 10_000),
}

/** The same numbers each time, and no two alike. */
export function createNumbers(seed: number) {
  let state = seed
  return (most: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * most)
  }
}

const acme = {
  id: '0192f0a4-7c1e-7d2a-9b0e-51f2c3d4e5f6',
  name: 'Nordlicht Coffee',
  kind: 'tenant' as const,
}

const FRAME = {
  base: '',
  scope: acme,
  scopes: [
    acme,
    { id: '0192f0a4-9f00-7000-8000-00000000c0de', name: 'Fjord Bikes', kind: 'tenant' as const },
    { id: 'installation', name: 'Installation', kind: 'installation' as const },
  ],
  environment: 'live' as const,
  operator: { name: 'Astrid Berg', email: 'astrid@nordlicht.example' },
  theme: 'system' as const,
  alerts: { endpoints: 1, jobs: 2 },
}

/** A page of the gallery in the layout of the console. */
export const framed = (
  page: Partial<LayoutProps> & { title: string; crumbs: LayoutProps['crumbs']; here: string },
  children: ComponentChildren,
) => (
  <ConsoleLayout {...FRAME} {...page}>
    {children}
  </ConsoleLayout>
)
