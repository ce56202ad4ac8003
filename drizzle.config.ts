import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'sqlite',
  schema: [
    './src/console/*/schema.ts',
    './src/platform/schema.ts',
    './src/platform/*/schema.ts',
    './src/delivery/schema.ts',
    './src/engines/*/schema.ts',
  ],
  out: './drizzle',
})
